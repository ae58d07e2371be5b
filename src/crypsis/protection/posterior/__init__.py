"""What an intruder who knows the masks knows of each person: the exact posterior of links."""

from crypsis.protection.posterior._posterior import CalibrationBin, LinkPosterior, link_posterior

__all__ = ["CalibrationBin", "LinkPosterior", "link_posterior"]
