/** Patterns in which `*` stands for any characters, also for none. */

/** Takes a time that is linear in text and pattern. */
export function globMatcher(pattern: string): (text: string) => boolean {
  const [head = '', ...rest] = pattern.split('*')
  const tail = rest.pop()
  if (tail === undefined) return (text) => text === head
  return (text) => {
    if (!text.startsWith(head) || text.length < head.length + tail.length) return false
    if (!text.endsWith(tail)) return false
    const end = text.length - tail.length
    let from = head.length
    for (const part of rest) {
      const at = text.indexOf(part, from)
      if (at < 0 || at + part.length > end) return false
      from = at + part.length
    }
    return true
  }
}
