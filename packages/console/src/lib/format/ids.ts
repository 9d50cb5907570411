/** An id shortened in its middle: its kind and its end tell it apart. */
export function shortId(id: string): string {
  const mark = id.lastIndexOf('_') + 1
  const [kind, rest] = [id.slice(0, mark), id.slice(mark)]
  return rest.length <= 10 ? id : `${kind}${rest.slice(0, 4)}…${rest.slice(-4)}`
}
