/** Markdown as slides. */
import { dirname, resolve } from 'node:path'
import { readImage } from './lib/inputs.mjs'
import { blocksOf, runsOf } from './lib/markdown.mjs'
import { officeTypes } from './lib/package.mjs'
import { child, element } from './lib/xml.mjs'
import {
  drawing,
  layouts,
  mainPart,
  names,
  newPresentation,
  notesMaster,
  placeholder,
  placeOf,
  shapeTree,
  type,
} from './frame.mjs'

const whole = [838_200, 1_700_000, 10_515_600, 4_500_000]
const left = [838_200, 1_700_000, 5_100_000, 4_500_000]
const right = [6_200_000, 1_700_000, 5_153_800, 4_500_000]
const emuPerPixel = 9525

/** Slides stand between lines of dashes; a paragraph that begins with `Notes:` is for the speaker. */
export function compose(text, from) {
  const parts = newPresentation()
  const slides = [[]]
  for (const block of blocksOf(text)) {
    if (block.type === 'rule') slides.push([])
    else slides.at(-1).push(block)
  }
  const told = slides.filter((blocks) => blocks.length > 0)
  for (const [index, blocks] of told.entries())
    addSlide(parts, { blocks, number: index + 1, folder: dirname(from) })
  return { parts, count: told.length }
}

const isNotes = ({ type: kind, text }) => kind === 'paragraph' && /^notes:/i.test(text)

function addSlide(parts, { blocks, number, folder }) {
  const name = `ppt/slides/slide${number}.xml`
  const notes = blocks.filter(isNotes).map(({ text }) => text.replace(/^notes:\s*/i, ''))
  const shown = blocks.filter((block) => !isNotes(block))
  const title = shown.find((block) => block.type === 'heading')
  const rest = shown.filter((block) => block !== title)
  const isOpening =
    rest.every((block) => block.type === 'heading' || block.type === 'paragraph') &&
    number === 1 &&
    title !== undefined &&
    rest.length <= 2
  const slide = { parts, name, folder, number }
  const shapes = isOpening ? opening(slide, title, rest) : content(slide, title, rest)
  parts.setTree(
    name,
    element('p:sld', names, [
      shapeTree(shapes),
      element('p:clrMapOvr', {}, [element('a:masterClrMapping')]),
    ]),
  )
  parts.declare(name, type('slide'))
  const layout = isOpening ? layouts.title : layouts.content
  parts.relate(name, `${officeTypes}/slideLayout`, `ppt/slideLayouts/${layout}.xml`)
  const id = parts.relate(mainPart, `${officeTypes}/slide`, name)
  const entry = element('p:sldId', { id: String(255 + number), 'r:id': id })
  child(parts.tree(mainPart), 'p:sldIdLst').children.push(entry)
  if (notes.length > 0) addNotes(slide, notes)
}

const opening = (slide, title, rest) => [
  placeholder({ id: 2, kind: 'ctrTitle', content: [paragraph(slide, title.text)] }),
  ...(rest.length > 0
    ? [
        placeholder({
          id: 3,
          kind: 'subTitle',
          index: 1,
          content: rest.map(({ text }) => paragraph(slide, text, { isPlain: true })),
        }),
      ]
    : []),
]

function content(slide, title, blocks) {
  const shapes = []
  if (title)
    shapes.push(placeholder({ id: 2, kind: 'title', content: [paragraph(slide, title.text)] }))
  const figures = blocks.filter((block) => block.type === 'image' || block.type === 'table')
  const texts = blocks.filter((block) => !figures.includes(block))
  const isBoth = figures.length > 0 && texts.length > 0
  if (texts.length > 0) {
    const lines = texts.flatMap((block) => linesOf(slide, block))
    const place = isBoth ? left : undefined
    shapes.push(
      placeholder({ id: 3, kind: 'body', index: 1, place, content: sized(lines, isBoth) }),
    )
  }
  const [x, y, width, height] = isBoth ? right : whole
  const each = Math.floor(height / Math.max(1, figures.length))
  for (const [i, figure] of figures.entries()) {
    const place = [x, y + i * each, width, each - (figures.length > 1 ? 100_000 : 0)]
    const made = figure.type === 'image' ? pictureOf : tableOf
    shapes.push(made(slide, figure, { id: 4 + i, place }))
  }
  return shapes
}

function linesOf(slide, block) {
  if (block.type === 'item') return [paragraph(slide, block.text, block)]
  if (block.type === 'heading')
    return [paragraph(slide, `**${block.text.replaceAll('*', '')}**`, { isPlain: true })]
  if (block.type === 'code')
    return block.lines.map((line) =>
      paragraph(slide, line === '' ? '' : `\`${line}\``, { isPlain: true }),
    )
  return [paragraph(slide, block.text, { isPlain: true })]
}

/** Many lines are written smaller: nothing fits a text to its shape until somebody edits it. */
function sized(paragraphs, isHalf) {
  const room = isHalf ? 7 : 9
  if (paragraphs.length <= room) return paragraphs
  const size = String(Math.max(1000, Math.round((2400 * room) / paragraphs.length / 100) * 100))
  for (const { children } of paragraphs)
    for (const each of children) if (each.name === 'a:r') child(each, 'a:rPr').attributes.sz = size
  return paragraphs
}

function paragraph(slide, text, { level = 0, isNumbered, isPlain } = {}) {
  const properties = element('a:pPr', level > 0 ? { lvl: String(Math.min(level, 4)) } : {})
  if (isPlain) {
    properties.attributes = { marL: '0', indent: '0' }
    properties.children.push(element('a:buNone'))
  }
  if (isNumbered) properties.children.push(element('a:buAutoNum', { type: 'arabicPeriod' }))
  return element('a:p', {}, [properties, ...runsOf(text).flatMap((run) => runOf(slide, run))])
}

function runOf({ parts, name }, { text, bold, italic, code, link }) {
  return text.split(/(\n)/).flatMap((piece) => {
    if (piece === '') return []
    if (piece === '\n') return [element('a:br')]
    const properties = element('a:rPr', {
      lang: 'en-US',
      ...(bold ? { b: '1' } : {}),
      ...(italic ? { i: '1' } : {}),
    })
    if (code) properties.children.push(element('a:latin', { typeface: 'Consolas' }))
    if (link) {
      const id = parts.relate(name, `${officeTypes}/hyperlink`, link, true)
      properties.children.push(element('a:hlinkClick', { 'r:id': id }))
    }
    return [element('a:r', {}, [properties, element('a:t', {}, [piece])])]
  })
}

function pictureOf({ parts, name, folder, number }, { alt, file }, { id, place }) {
  const { bytes, extension, type: kind, width, height } = readImage(resolve(folder, file))
  const part = `ppt/media/image${number}-${id}.${extension}`
  parts.set(part, bytes)
  parts.declareExtension(extension, kind)
  const relation = parts.relate(name, `${officeTypes}/image`, part)
  const [x, y, most, tallest] = place
  const scale = Math.min(2 * emuPerPixel, most / width, tallest / height)
  const [cx, cy] = [Math.round(width * scale), Math.round(height * scale)]
  const at = [x + Math.round((most - cx) / 2), y + Math.round((tallest - cy) / 2), cx, cy]
  return element('p:pic', {}, [
    element('p:nvPicPr', {}, [
      element('p:cNvPr', { id: String(id), name: `Picture ${id}`, descr: alt }),
      element('p:cNvPicPr'),
      element('p:nvPr'),
    ]),
    element('p:blipFill', {}, [
      element('a:blip', { 'r:embed': relation }),
      element('a:stretch', {}, [element('a:fillRect')]),
    ]),
    element('p:spPr', {}, [
      placeOf(at),
      element('a:prstGeom', { prst: 'rect' }, [element('a:avLst')]),
    ]),
  ])
}

function tableOf(slide, { rows }, { id, place: [x, y, width] }) {
  const count = Math.max(...rows.map((row) => row.length))
  const high = 400_000
  const cell = (text) =>
    element('a:tc', {}, [
      element('a:txBody', {}, [
        element('a:bodyPr'),
        element('a:lstStyle'),
        element(
          'a:p',
          {},
          runsOf(text).flatMap((run) => runOf(slide, run)),
        ),
      ]),
      element('a:tcPr'),
    ])
  const style = '{5C22544A-7EE6-4342-B048-85BDC9FD1C3A}'
  const table = element('a:tbl', {}, [
    element('a:tblPr', { firstRow: '1', bandRow: '1' }, [element('a:tableStyleId', {}, [style])]),
    element(
      'a:tblGrid',
      {},
      Array.from({ length: count }, () =>
        element('a:gridCol', { w: String(Math.floor(width / count)) }),
      ),
    ),
    ...rows.map((row) =>
      element(
        'a:tr',
        { h: String(high) },
        Array.from({ length: count }, (_, i) => cell(row[i] ?? '')),
      ),
    ),
  ])
  return element('p:graphicFrame', {}, [
    element('p:nvGraphicFramePr', {}, [
      element('p:cNvPr', { id: String(id), name: `Table ${id}` }),
      element('p:cNvGraphicFramePr', {}, [element('a:graphicFrameLocks', { noGrp: '1' })]),
      element('p:nvPr'),
    ]),
    placeOf([x, y, width, high * rows.length], 'p:xfrm'),
    element('a:graphic', {}, [
      element('a:graphicData', { uri: drawing.replace('main', 'table') }, [table]),
    ]),
  ])
}

function addNotes({ parts, name, number }, notes) {
  const part = `ppt/notesSlides/notesSlide${number}.xml`
  const paragraphs = notes.map((text) =>
    element('a:p', {}, [element('a:r', {}, [element('a:rPr'), element('a:t', {}, [text])])]),
  )
  parts.setTree(
    part,
    element('p:notes', names, [
      shapeTree([placeholder({ id: 2, kind: 'body', index: 1, content: paragraphs })]),
      element('p:clrMapOvr', {}, [element('a:masterClrMapping')]),
    ]),
  )
  parts.declare(part, type('notesSlide'))
  parts.relate(part, `${officeTypes}/notesMaster`, notesMaster(parts))
  parts.relate(part, `${officeTypes}/slide`, name)
  parts.relate(name, `${officeTypes}/notesSlide`, part)
}
