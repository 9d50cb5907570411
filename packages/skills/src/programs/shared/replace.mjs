/** Words replaced where they stand, in the format of where they begin. */
import { below, textOf } from './xml.mjs'

/** How often it was found. A text that is in several runs is found; one that goes over paragraphs is not. */
export function replaceIn(tree, paragraph, text, { from, to }) {
  let count = 0
  for (const each of below(tree, paragraph))
    count += replaceInPieces([...below(each, text)], from, to)
  return count
}

function replaceInPieces(pieces, from, to) {
  const texts = pieces.map(textOf)
  const whole = texts.join('')
  const found = []
  for (let at = whole.indexOf(from); at >= 0; at = whole.indexOf(from, at + from.length))
    found.push(at)
  for (const at of found.toReversed()) replaceAt(texts, { at, length: from.length, to })
  if (found.length === 0) return 0
  for (const [i, piece] of pieces.entries()) {
    piece.children = texts[i] === '' ? [] : [texts[i]]
    if (piece.name === 'w:t') piece.attributes['xml:space'] = 'preserve'
  }
  return found.length
}

function replaceAt(texts, { at, length, to }) {
  let start = 0
  let isPut = false
  for (const [i, text] of texts.entries()) {
    const [first, last] = [Math.max(at, start), Math.min(at + length, start + text.length)]
    start += text.length
    if (first >= last) continue
    const offset = start - text.length
    texts[i] = text.slice(0, first - offset) + (isPut ? '' : to) + text.slice(last - offset)
    isPut = true
  }
}
