"""crypsis inside other tools: one small module for each, loaded only where that tool is.

`dagster`, `dbt`, `great_expectations`, `pandera`, `pre_commit`, `pytest_plugin` and `sklearn`. All of them
ask `crypsis.assess` or `crypsis.anonymize` and pass only where the verdict is "safe".
"""
