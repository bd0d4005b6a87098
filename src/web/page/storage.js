// What the browser keeps for later visits. A browser that keeps nothing is no error.

/** What was kept under a name in an earlier visit, or `fallback`. */
export function recall(name, fallback) {
  try {
    return { ...fallback, ...JSON.parse(localStorage.getItem(`outflank.${name}`) ?? "{}") };
  } catch {
    return { ...fallback };
  }
}

/** Keeps a value for later visits. Whether the browser has kept it: private windows may refuse. */
export function keep(name, value) {
  try {
    localStorage.setItem(`outflank.${name}`, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}
