// What the search of the manual puts first: pages that explain, before the reference, the papers and the changelog.
var Scorer = {
  score: ([docname, title, anchor, descr, score, filename, kind]) => {
    const later = /^(project|papers|reference|coming_from)\/|^(attacks|benchmarks|threat_model|linkage_casc)$/;
    return later.test(docname) && kind !== "index" ? score - 4 : score;
  },
  // The rest is as Sphinx has it.
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
