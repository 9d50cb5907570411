/** Hides host paths in messages of the host's programs and kernel that a session sees. */

/** Absolute paths, up to a character that ends a path in such messages. Paths of sandboxes stay. */
const paths =
  /(?<![\w./:@-])\/(?!(?:workspace|mnt\/(?:session|user|memory))(?![\w-]))[^'"`:;,()\n]*[^'"`:;,()\n.\s]/g

/** Replaces host paths, because a session must not learn where its folders lie on the host. */
export const withoutHostPaths = (text: string): string =>
  text.replaceAll(paths, '(a path of the host)')
