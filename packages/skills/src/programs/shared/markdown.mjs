/** The part of Markdown that documents are made from: headings, paragraphs, lists, tables, code, images, breaks. */

const listItem = /^(\s*)([-*+]|\d+[.)])\s+(.*)$/

/** Blocks: `{type: heading|paragraph|item|table|code|image|rule, …}`. */
export function blocksOf(text) {
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  const blocks = []
  let at = 0
  while (at < lines.length) {
    const { block, next } = blockAt(lines, at)
    if (block) blocks.push(block)
    at = next
  }
  return blocks
}

function blockAt(lines, at) {
  const line = lines[at]
  const one = (block) => ({ block, next: at + 1 })
  if (line.trim() === '') return one(undefined)
  const heading = /^(#{1,6})\s+(.*?)\s*#*$/.exec(line)
  if (heading) return one({ type: 'heading', level: heading[1].length, text: heading[2] })
  if (/^\s*(-{3,}|\*{3,}|_{3,})\s*$/.test(line)) return one({ type: 'rule' })
  const image = /^!\[([^\]]*)\]\(([^)]+)\)\s*$/.exec(line)
  if (image) return one({ type: 'image', alt: image[1], file: image[2] })
  if (/^\s*```/.test(line)) return codeAt(lines, at)
  if (isTable(lines, at)) return tableAt(lines, at)
  const item = listItem.exec(line)
  if (item) return itemAt(lines, at, item)
  return paragraphAt(lines, at)
}

function codeAt(lines, at) {
  const end = lines.findIndex((line, i) => i > at && /^\s*```\s*$/.test(line))
  const last = end < 0 ? lines.length : end
  return { block: { type: 'code', lines: lines.slice(at + 1, last) }, next: last + 1 }
}

const isTable = (lines, at) =>
  lines[at].includes('|') && /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/.test(lines[at + 1] ?? '')

function tableAt(lines, at) {
  let end = at + 2
  while (end < lines.length && lines[end].includes('|')) end++
  const rows = [lines[at], ...lines.slice(at + 2, end)].map(cellsOf)
  return { block: { type: 'table', rows }, next: end }
}

const cellsOf = (line) =>
  line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'))

function itemAt(lines, at, [, indent, mark, first]) {
  const { text, next } = joined(lines, at, first)
  const level = Math.min(8, Math.floor(indent.replaceAll('\t', '    ').length / 2))
  return { block: { type: 'item', isNumbered: /\d/.test(mark), level, text }, next }
}

function paragraphAt(lines, at) {
  const { text, next } = joined(lines, at, lines[at].trim())
  return { block: { type: 'paragraph', text }, next }
}

/** Lines that go on are one text; two blanks at the end of a line break it. */
function joined(lines, at, first) {
  let text = first
  let next = at + 1
  const goesOn = (i) =>
    i < lines.length &&
    lines[i].trim() !== '' &&
    !/^\s*(#{1,6}\s|```|!\[|(-{3,}|\*{3,}|_{3,})\s*$)/.test(lines[i]) &&
    !listItem.test(lines[i]) &&
    !isTable(lines, i)
  for (; goesOn(next); next++)
    text = / {2}$/.test(lines[next - 1])
      ? `${text.trimEnd()}\n${lines[next].trim()}`
      : `${text} ${lines[next].trim()}`
  return { text: text.trimEnd(), next }
}

const inline =
  /\*\*([^*]+)\*\*|__([^_]+)__|\*([^*]+)\*|(?<!\w)_([^_]+)_(?!\w)|`([^`]+)`|\[([^\]]+)\]\(([^)\s]+)\)/g

/** Runs of a text: `{text, bold?, italic?, code?, link?}`. */
export function runsOf(text, outer = {}) {
  const runs = []
  let from = 0
  const plain = (to) => {
    if (to > from) runs.push({ ...outer, text: unescaped(text.slice(from, to)) })
  }
  for (const found of text.matchAll(inline)) {
    const [whole, strong, strongToo, slanted, slantedToo, code, label, link] = found
    if (text[found.index - 1] === '\\') continue
    plain(found.index)
    from = found.index + whole.length
    if (code !== undefined) runs.push({ ...outer, code: true, text: code })
    else if (label !== undefined) runs.push(...runsOf(label, { ...outer, link }))
    else if (strong ?? strongToo)
      runs.push(...runsOf(strong ?? strongToo, { ...outer, bold: true }))
    else runs.push(...runsOf(slanted ?? slantedToo, { ...outer, italic: true }))
  }
  plain(text.length)
  return runs
}

const unescaped = (text) => text.replaceAll(/\\([\\`*_{}[\]()#+.!|-])/g, '$1')
