/** The text of pages, in lines as they are seen. */
import { Refused } from './lib/cli.mjs'
import { numbersIn, readBytes } from './lib/inputs.mjs'
import { getDocument, VerbosityLevel } from './lib/unpdf.mjs'

export async function textOf(file, { pages, password }) {
  const data = new Uint8Array(readBytes(file))
  const options = { data, password, isEvalSupported: false, useSystemFonts: true }
  const loading = getDocument({ ...options, verbosity: VerbosityLevel.ERRORS })
  const document = await loading.promise.catch((cause) => {
    throw new Refused(`${file} cannot be read: ${cause.message}`)
  })
  const wanted = pages ? numbersIn(pages, document.numPages) : [...Array(document.numPages).keys()]
  const texts = []
  for (const index of wanted) {
    const page = await document.getPage(index + 1)
    const { items } = await page.getTextContent()
    texts.push({ page: index + 1, text: linesOf(items) })
    page.cleanup()
  }
  await loading.destroy()
  return texts
}

/** Pieces on one height are one line, from left to right; a gap between them is a blank, a wide one a tab. */
function linesOf(items) {
  const pieces = items
    .filter(({ str }) => str !== undefined && str.trim() !== '')
    .map(({ str, width, height, transform: [, , , , x, y] }) => ({
      text: str,
      x,
      y,
      width,
      height,
    }))
  const lines = []
  for (const piece of pieces) {
    const last = lines.at(-1)
    const near = Math.max(2, piece.height * 0.4)
    if (last && Math.abs(last.y - piece.y) < near) last.pieces.push(piece)
    else lines.push({ y: piece.y, pieces: [piece] })
  }
  return lines.map(({ pieces: line }) => joined(line.toSorted((a, b) => a.x - b.x))).join('\n')
}

function joined(line) {
  let text = ''
  let end
  for (const { text: said, x, width, height } of line) {
    const gap = end === undefined ? 0 : x - end
    if (gap > height * 1.5) text += '\t'
    else if (gap > height * 0.15 && !/\s$/.test(text)) text += ' '
    text += said
    end = x + width
  }
  return text
}
