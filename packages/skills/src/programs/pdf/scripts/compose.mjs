/** Markdown on the pages of a PDF, in the fonts that every reader has. */
import { dirname, resolve } from 'node:path'
import { Refused } from './lib/cli.mjs'
import { readImage } from './lib/inputs.mjs'
import { blocksOf, runsOf } from './lib/markdown.mjs'
import { PDFDocument, PDFName, PDFString, StandardFonts, rgb } from './lib/pdf-lib.mjs'

const papers = { a4: [595.28, 841.89], letter: [612, 792] }
const margin = 64
const headingSizes = [22, 18, 15, 13, 12, 11]
const plainSize = 11
const black = rgb(0, 0, 0)
const gray = rgb(0.45, 0.45, 0.45)

export async function compose(text, { from, paper, isReplacing, isNumbered }) {
  if (!Object.hasOwn(papers, paper)) throw new Refused('--paper is a4 or letter')
  const pdf = await PDFDocument.create()
  const fonts = Object.fromEntries(
    await Promise.all(
      Object.entries({
        plain: StandardFonts.Helvetica,
        bold: StandardFonts.HelveticaBold,
        italic: StandardFonts.HelveticaOblique,
        both: StandardFonts.HelveticaBoldOblique,
        code: StandardFonts.Courier,
      }).map(async ([name, font]) => [name, await pdf.embedFont(font)]),
    ),
  )
  const known = new Set(fonts.plain.getCharacterSet())
  const clean = (said) => cleaned(said, known, isReplacing)
  const [width, height] = papers[paper]
  const sheet = { pdf, fonts, clean, width, height, folder: dirname(from), page: undefined, y: 0 }
  newPage(sheet)
  const counts = []
  for (const block of blocksOf(text)) {
    if (block.type === 'item') block.number = countOf(counts, block)
    else counts.length = 0
    await writers[block.type](sheet, block)
  }
  if (isNumbered) numberPages(sheet)
  return pdf
}

/** The standard fonts have Western letters only. */
function cleaned(text, known, isReplacing) {
  return Array.from(text, (each) => {
    if (known.has(each.codePointAt(0))) return each
    if (/\s/u.test(each)) return ' '
    if (isReplacing) return '?'
    throw new Refused(
      `${each} (U+${each.codePointAt(0).toString(16).toUpperCase()}) is in no standard font of PDF; ` +
        'leave it out, or say --replace to have ? in its place',
    )
  }).join('')
}

function newPage(sheet) {
  sheet.page = sheet.pdf.addPage([sheet.width, sheet.height])
  sheet.y = sheet.height - margin
}

/** Makes sure that so much fits on the page. */
function need(sheet, height) {
  if (sheet.y - height < margin && sheet.y < sheet.height - margin) newPage(sheet)
}

function countOf(counts, { level, isNumbered }) {
  counts.length = level + 1
  counts[level] = isNumbered ? (counts[level] ?? 0) + 1 : 0
  return counts[level]
}

const writers = {
  heading(sheet, { level, text }) {
    const size = headingSizes[level - 1]
    sheet.y -= size * 0.6
    need(sheet, size * 3)
    write(sheet, `**${text.replaceAll('*', '')}**`, { size })
    sheet.y -= size * 0.3
  },
  paragraph(sheet, { text }) {
    write(sheet, text, {})
    sheet.y -= 6
  },
  item(sheet, { text, level, isNumbered, number }) {
    const indent = 18 * (level + 1)
    need(sheet, plainSize * 1.4)
    const mark = isNumbered ? `${number}.` : '•'
    const x = margin + indent - 14
    sheet.page.drawText(mark, {
      x,
      y: sheet.y - plainSize,
      size: plainSize,
      font: sheet.fonts.plain,
    })
    write(sheet, text, { indent })
    sheet.y -= 2
  },
  code(sheet, { lines }) {
    for (const line of lines)
      write(sheet, line === '' ? ' ' : line, { size: 9.5, isCode: true, indent: 10 })
    sheet.y -= 6
  },
  rule: newPage,
  table: drawTable,
  image: drawImage,
}

const fontOf = (fonts, { bold, italic, code }) => {
  if (code) return fonts.code
  if (bold && italic) return fonts.both
  if (bold) return fonts.bold
  return italic ? fonts.italic : fonts.plain
}

/** Words and the blanks before them, each with its font; a word may be of several pieces. */
function piecesOf({ fonts, clean }, text, { isCode }) {
  const runs = isCode ? [{ text, code: true }] : runsOf(text)
  return runs.flatMap((run) =>
    run.text
      .split(/(\n|(?<=\s)(?=\S)|(?<=\S)(?=[^\S\n]))/)
      .filter((said) => said !== undefined && said !== '')
      .map((said) => ({
        ...run,
        text: said === '\n' ? said : clean(said),
        font: fontOf(fonts, run),
      })),
  )
}

function linesOf(pieces, size, width) {
  const lines = [[]]
  let x = 0
  const breakLine = () => {
    lines.push([])
    x = 0
  }
  for (const piece of pieces.flatMap((each) => fitting(each, size, width))) {
    if (piece.text === '\n') {
      breakLine()
      continue
    }
    const wide = piece.font.widthOfTextAtSize(piece.text, size)
    if (x > 0 && x + wide > width) {
      breakLine()
      if (piece.text.trim() === '') continue
    }
    lines.at(-1).push({ ...piece, x, wide })
    x += wide
  }
  return lines.map(joined)
}

/** Words of one font are written at once, so that who reads them finds a line and not its words. */
function joined(line) {
  const runs = []
  for (const piece of line) {
    const last = runs.at(-1)
    if (last && last.font === piece.font && last.link === piece.link) {
      last.text += piece.text
      last.wide += piece.wide
    } else runs.push({ ...piece })
  }
  return runs
}

/** A word that is wider than the line is broken. */
function fitting(piece, size, width) {
  if (piece.text === '\n' || piece.font.widthOfTextAtSize(piece.text, size) <= width) return [piece]
  const parts = []
  let rest = piece.text
  while (rest !== '') {
    let count = rest.length
    while (count > 1 && piece.font.widthOfTextAtSize(rest.slice(0, count), size) > width)
      count = Math.max(1, Math.floor(count * 0.8))
    parts.push({ ...piece, text: rest.slice(0, count) })
    rest = rest.slice(count)
  }
  return parts
}

function write(sheet, text, { size = plainSize, indent = 0, isCode = false }) {
  const width = sheet.width - 2 * margin - indent
  for (const line of linesOf(piecesOf(sheet, text, { isCode }), size, width)) {
    need(sheet, size * 1.4)
    drawLine(sheet, line, { x: margin + indent, y: sheet.y - size, size })
    sheet.y -= size * 1.4
  }
}

function drawLine({ page, pdf }, line, { x, y, size }) {
  for (const piece of line) {
    const color = piece.link ? rgb(0.02, 0.35, 0.7) : black
    page.drawText(piece.text, { x: x + piece.x, y, size, font: piece.font, color })
    if (piece.link)
      link(pdf, page, piece.link, [x + piece.x, y - 2, x + piece.x + piece.wide, y + size])
  }
}

function link(pdf, page, uri, rectangle) {
  const annotation = pdf.context.register(
    pdf.context.obj({
      Type: 'Annot',
      Subtype: 'Link',
      Rect: rectangle,
      Border: [0, 0, 0],
      A: { Type: 'Action', S: 'URI', URI: PDFString.of(uri) },
    }),
  )
  const known = page.node.Annots()
  if (known) known.push(annotation)
  else page.node.set(PDFName.of('Annots'), pdf.context.obj([annotation]))
}

const cellSize = 9.5

function drawTable(sheet, { rows }) {
  const count = Math.max(...rows.map((row) => row.length))
  const widths = widthsOf(sheet, rows, count)
  for (const [index, row] of rows.entries()) {
    const cells = Array.from({ length: count }, (_, i) => {
      const text = row[i] ?? ''
      const said = index === 0 && text !== '' ? `**${text.replaceAll('*', '')}**` : text
      return linesOf(piecesOf(sheet, said, {}), cellSize, widths[i] - 8)
    })
    const height = Math.max(...cells.map((lines) => lines.length)) * cellSize * 1.35 + 6
    need(sheet, height)
    let x = margin
    for (const [i, lines] of cells.entries()) {
      const box = { x, y: sheet.y - height, width: widths[i], height }
      sheet.page.drawRectangle({ ...box, borderColor: gray, borderWidth: 0.5 })
      for (const [j, line] of lines.entries())
        drawLine(sheet, line, {
          x: x + 4,
          y: sheet.y - 3 - cellSize - j * cellSize * 1.35,
          size: cellSize,
        })
      x += widths[i]
    }
    sheet.y -= height
  }
  sheet.y -= 10
}

/** By what is in the columns, and none so narrow that nothing can be read. */
function widthsOf({ width, fonts, clean }, rows, count) {
  const room = width - 2 * margin
  const wanted = Array.from({ length: count }, (_, i) => {
    const all = rows.map((row) => fonts.bold.widthOfTextAtSize(clean(row[i] ?? ''), cellSize) + 10)
    return Math.min(Math.max(30, ...all), room / 2)
  })
  const sum = wanted.reduce((total, each) => total + each, 0)
  return wanted.map((each) => each * Math.min(room / sum, 1.5))
}

async function drawImage(sheet, { file }) {
  const { bytes, extension } = readImage(resolve(sheet.folder, file))
  const image = await (extension === 'png' ? sheet.pdf.embedPng(bytes) : sheet.pdf.embedJpg(bytes))
  const most = { width: sheet.width - 2 * margin, height: sheet.height - 2 * margin }
  const scale = Math.min(0.75, most.width / image.width, most.height / image.height)
  const [width, height] = [image.width * scale, image.height * scale]
  need(sheet, height)
  sheet.page.drawImage(image, { x: margin, y: sheet.y - height, width, height })
  sheet.y -= height + 10
}

function numberPages({ pdf, fonts, width }) {
  const pages = pdf.getPages()
  for (const [i, page] of pages.entries()) {
    const text = `${i + 1} / ${pages.length}`
    const x = (width - fonts.plain.widthOfTextAtSize(text, 9)) / 2
    page.drawText(text, { x, y: margin / 2, size: 9, font: fonts.plain, color: gray })
  }
}
