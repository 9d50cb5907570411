/** Names of branches and tags that git accepts. git-check-ref-format(1) */
export const isRefName = (name: string): boolean =>
  name.isWellFormed() &&
  /^refs\/(?:heads|tags)\/[^\0-\x20\x7f~^:?*[\\]+$/.test(name) &&
  !/\.\.|@\{|\/\/|\/\.|\.lock(?:\/|$)|[./]$/.test(name)
