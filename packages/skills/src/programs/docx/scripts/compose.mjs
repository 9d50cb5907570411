/** Markdown as the paragraphs and tables of a document. */
import { dirname, resolve } from 'node:path'
import { readImage } from './lib/inputs.mjs'
import { blocksOf, runsOf } from './lib/markdown.mjs'
import { officeTypes } from './lib/package.mjs'
import { element } from './lib/xml.mjs'
import { newList, stylesFor, word as w } from './styles.mjs'

const emuPerPixel = 9525
const widest = 5_900_000
const drawing = 'http://schemas.openxmlformats.org/drawingml/2006'

export function compose(parts, text, from) {
  const document = parts.main()
  const context = {
    parts,
    document,
    style: stylesFor(parts),
    folder: dirname(from),
    list: undefined,
  }
  return blocksOf(text).flatMap((block) => {
    if (block.type !== 'item') context.list = undefined
    return writers[block.type](block, context)
  })
}

const writers = {
  heading: ({ level, text }, context) => [paragraph(context, `Heading${level}`, text)],
  paragraph: ({ text }, context) => [paragraph(context, undefined, text)],
  rule: () => [element('w:p', {}, [run([element('w:br', { 'w:type': 'page' })])])],
  code: ({ lines }, context) =>
    lines.map((line) => paragraphOf(context, 'SourceCode', [run(textOf(line))])),
  item({ isNumbered, level, text }, context) {
    if (context.list?.isNumbered !== isNumbered)
      context.list = { isNumbered, id: newList(context.parts, isNumbered) }
    const place = element('w:numPr', {}, [w('ilvl', level), w('numId', context.list.id)])
    return [paragraph(context, 'ListParagraph', text, [place])]
  },
  table: ({ rows }, context) => [tableOf(rows, context), element('w:p')],
  image({ alt, file }, context) {
    const image = readImage(resolve(context.folder, file))
    return [element('w:p', {}, [run([pictureOf(image, alt, context)])])]
  },
}

const paragraph = (context, style, text, properties = []) =>
  paragraphOf(context, style, inline(text, context), properties)

function paragraphOf(context, style, children, properties = []) {
  const all = [...(style ? [w('pStyle', context.style(style))] : []), ...properties]
  return element('w:p', {}, [...(all.length > 0 ? [element('w:pPr', {}, all)] : []), ...children])
}

const run = (content, properties = []) =>
  element('w:r', {}, [
    ...(properties.length > 0 ? [element('w:rPr', {}, properties)] : []),
    ...content,
  ])

/** Line breaks and tabs are elements of their own. */
export const textOf = (text) =>
  text.split(/(\n|\t)/).flatMap((piece) => {
    if (piece === '') return []
    if (piece === '\n') return [element('w:br')]
    if (piece === '\t') return [element('w:tab')]
    return [element('w:t', { 'xml:space': 'preserve' }, [piece])]
  })

function inline(text, { parts, document, style }) {
  return runsOf(text).map(({ text: said, bold, italic, code, link }) => {
    const properties = [
      ...(link ? [w('rStyle', style('Hyperlink'))] : []),
      ...(code && !link ? [w('rStyle', style('CodeText'))] : []),
      ...(bold ? [w('b')] : []),
      ...(italic ? [w('i')] : []),
    ]
    const made = run(textOf(said), properties)
    if (!link) return made
    const id = parts.relate(document, `${officeTypes}/hyperlink`, link, true)
    return element('w:hyperlink', { 'xmlns:r': officeTypes, 'r:id': id }, [made])
  })
}

function tableOf(rows, context) {
  const count = Math.max(...rows.map((row) => row.length))
  const width = Math.floor(9000 / count)
  const cell = (text, isHead) =>
    element('w:tc', {}, [
      element('w:tcPr', {}, [element('w:tcW', { 'w:w': String(width), 'w:type': 'dxa' })]),
      paragraph(
        context,
        undefined,
        isHead && text !== '' ? `**${text.replaceAll('*', '')}**` : text,
      ),
    ])
  return element('w:tbl', {}, [
    element('w:tblPr', {}, [
      w('tblStyle', context.style('GridTable')),
      element('w:tblW', { 'w:w': '0', 'w:type': 'auto' }),
    ]),
    element(
      'w:tblGrid',
      {},
      Array.from({ length: count }, () => element('w:gridCol', { 'w:w': String(width) })),
    ),
    ...rows.map((row, index) => {
      const cells = Array.from({ length: count }, (_, i) => cell(row[i] ?? '', index === 0))
      const head = index === 0 ? [element('w:trPr', {}, [w('tblHeader')])] : []
      return element('w:tr', {}, [...head, ...cells])
    }),
  ])
}

function pictureOf({ bytes, extension, type, width, height }, alt, { parts, document }) {
  let number = 1
  while (parts.has(`word/media/image${number}.${extension}`)) number++
  const name = `word/media/image${number}.${extension}`
  parts.set(name, bytes)
  parts.declareExtension(extension, type)
  const id = parts.relate(document, `${officeTypes}/image`, name)
  const scale = Math.min(1, widest / (width * emuPerPixel))
  const [cx, cy] = [width, height].map((size) => String(Math.round(size * emuPerPixel * scale)))
  const about = { id: String(number), name: `Picture ${number}`, descr: alt }
  return element('w:drawing', {}, [
    element(
      'wp:inline',
      {
        'xmlns:wp': `${drawing}/wordprocessingDrawing`,
        distT: '0',
        distB: '0',
        distL: '0',
        distR: '0',
      },
      [
        element('wp:extent', { cx, cy }),
        element('wp:docPr', about),
        element('a:graphic', { 'xmlns:a': `${drawing}/main` }, [
          element('a:graphicData', { uri: `${drawing}/picture` }, [
            element('pic:pic', { 'xmlns:pic': `${drawing}/picture` }, [
              element('pic:nvPicPr', {}, [element('pic:cNvPr', about), element('pic:cNvPicPr')]),
              element('pic:blipFill', {}, [
                element('a:blip', { 'xmlns:r': officeTypes, 'r:embed': id }),
                element('a:stretch', {}, [element('a:fillRect')]),
              ]),
              element('pic:spPr', {}, [
                element('a:xfrm', {}, [
                  element('a:off', { x: '0', y: '0' }),
                  element('a:ext', { cx, cy }),
                ]),
                element('a:prstGeom', { prst: 'rect' }, [element('a:avLst')]),
              ]),
            ]),
          ]),
        ]),
      ],
    ),
  ])
}
