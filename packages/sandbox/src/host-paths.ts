/** Texts of the host's programs and of its kernel, for the eyes of a session. */

/** Absolute, up to what ends a path in such texts; folders of a sandbox that are no host's stay as they are. */
const paths =
  /(?<![\w./:@-])\/(?!(?:workspace|mnt\/(?:session|user|memory))(?![\w-]))[^'"`:;,()\n]*[^'"`:;,()\n.\s]/g

/** A session does not learn where its folders, or anything else, lie on the host. */
export const withoutHostPaths = (text: string): string =>
  text.replaceAll(paths, '(a path of the host)')
