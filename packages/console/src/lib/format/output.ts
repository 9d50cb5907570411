/** Long outputs: their head and tail, and how much lies between. */
export type OutputParts = {
  head: string
  tail: string
  /** Lines that are not shown. */
  between: number
}

const longestLine = 2_000

/** Attack: a line of megabytes stops the page. Its rest is counted and not shown. */
function cutLine(line: string): string {
  if (line.length <= longestLine) return line
  return `${line.slice(0, longestLine)}… (${line.length.toLocaleString('en')} characters)`
}

const indexOfLine = (text: string, count: number): number => {
  let at = 0
  for (let n = 0; n < count; n++) {
    const next = text.indexOf('\n', at)
    if (next < 0) return text.length
    at = next + 1
  }
  return at
}

const indexOfLastLines = (text: string, count: number): number => {
  let at = text.length
  for (let n = 0; n < count; n++) {
    const next = text.lastIndexOf('\n', at - 1)
    if (next < 0) return 0
    at = next
  }
  return at + 1
}

const countLines = (text: string): number => {
  let count = 1
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++
  return count
}

/** `lines`: how many of the head and of the tail are shown. */
export function partsOfOutput(text: string, lines: number): OutputParts {
  const trimmed = text.endsWith('\n') ? text.slice(0, -1) : text
  const total = countLines(trimmed)
  const cut = (part: string) => part.split('\n').map(cutLine).join('\n')
  if (total <= lines * 2 + 1) return { head: cut(trimmed), tail: '', between: 0 }
  const head = trimmed.slice(0, indexOfLine(trimmed, lines) - 1)
  const tail = trimmed.slice(indexOfLastLines(trimmed, lines))
  return { head: cut(head), tail: cut(tail), between: total - lines * 2 }
}
