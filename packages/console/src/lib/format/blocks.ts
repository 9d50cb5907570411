/**
 * A text in Markdown that still comes, in blocks that can be shown each by itself: only the last one changes while more
 * is written, so that a long answer is not read anew for each word. Joined, the blocks are the text.
 */
export function blocksOf(text: string): string[] {
  const blocks: string[] = []
  let from = 0
  let fence: string | undefined
  let at = 0
  for (const line of text.split('\n')) {
    const [, mark] = /^ {0,3}(`{3,}|~{3,})/.exec(line) ?? []
    if (mark !== undefined) {
      if (fence === undefined) fence = mark
      else if (mark.startsWith(fence) && line.trim() === mark) fence = undefined
    }
    at += line.length + 1
    // A blank line ends a block, but for those within code.
    if (line.trim() === '' && fence === undefined && at <= text.length) {
      blocks.push(text.slice(from, at))
      from = at
    }
  }
  if (from < text.length) blocks.push(text.slice(from))
  return blocks
}
