/**
 * The one segment under which a file is published: `~1` stands for each `/` of its path, and `~0` for a `~` that could
 * be taken for the beginning of either. RFC 6901 3, but other `~` stay.
 */
export const outputName = (parts: readonly string[]): string =>
  parts.map((part) => part.replaceAll(/~(?=[01])/g, '~0')).join('~1')
