/** Styles and lists that new paragraphs are written in; what a document has already is left as it is. */
import { officeTypes } from './lib/package.mjs'
import { childrenOf, element } from './lib/xml.mjs'

export const wordNames = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main'
const type = (name) => `application/vnd.openxmlformats-officedocument.wordprocessingml.${name}+xml`
export const documentType = type('document.main')

const w = (name, value, children = []) =>
  element(`w:${name}`, value === undefined ? {} : { 'w:val': String(value) }, children)
export const word = w

const headingSizes = [32, 28, 26, 24, 22, 22]

const styleOf = (kind, id, name, children) =>
  element('w:style', { 'w:type': kind, 'w:styleId': id }, [w('name', name), ...children])

const fontOf = (name) => element('w:rFonts', { 'w:ascii': name, 'w:hAnsi': name, 'w:cs': name })

const spacing = (before, after) =>
  element('w:spacing', { 'w:before': String(before), 'w:after': String(after) })

const headingStyle = (size, index) =>
  styleOf('paragraph', `Heading${index + 1}`, `heading ${index + 1}`, [
    w('basedOn', 'Normal'),
    w('next', 'Normal'),
    w('qFormat'),
    element('w:pPr', {}, [w('keepNext'), w('keepLines'), spacing(240, 80), w('outlineLvl', index)]),
    element('w:rPr', {}, [w('b'), w('color', '1F3864'), w('sz', size)]),
  ])

const borders = element(
  'w:tblBorders',
  {},
  ['top', 'left', 'bottom', 'right', 'insideH', 'insideV'].map((side) =>
    element(`w:${side}`, { 'w:val': 'single', 'w:sz': '4', 'w:space': '0', 'w:color': '808080' }),
  ),
)

const ownStyles = () => [
  styleOf('paragraph', 'Normal', 'Normal', [
    w('qFormat'),
    element('w:pPr', {}, [spacing(0, 120)]),
    element('w:rPr', {}, [fontOf('Calibri'), w('sz', 22)]),
  ]),
  ...headingSizes.map(headingStyle),
  styleOf('paragraph', 'ListParagraph', 'List Paragraph', [
    w('basedOn', 'Normal'),
    element('w:pPr', {}, [spacing(0, 40)]),
  ]),
  styleOf('paragraph', 'SourceCode', 'Source Code', [
    w('basedOn', 'Normal'),
    element('w:pPr', {}, [spacing(0, 0)]),
    element('w:rPr', {}, [fontOf('Consolas'), w('sz', 19)]),
  ]),
  styleOf('character', 'CodeText', 'Code Text', [
    element('w:rPr', {}, [fontOf('Consolas'), w('sz', 20)]),
  ]),
  styleOf('character', 'Hyperlink', 'Hyperlink', [
    element('w:rPr', {}, [w('color', '0563C1'), w('u', 'single')]),
  ]),
  styleOf('table', 'GridTable', 'Grid Table', [element('w:tblPr', {}, [borders])]),
]

/** The part of that kind, which is made if there is none. */
function partOf(parts, kind, root) {
  const main = parts.main()
  const found = parts.relations(main).find((each) => each.type.endsWith(`/${kind}`))
  if (found) return parts.tree(found.target)
  const name = `word/${kind}.xml`
  parts.setTree(name, element(`w:${root}`, { 'xmlns:w': wordNames }))
  parts.declare(name, type(kind))
  parts.relate(main, `${officeTypes}/${kind}`, name)
  return parts.tree(name)
}

/** The id of the style by our id: the document's own of the same name if it has one. */
export function stylesFor(parts) {
  const tree = partOf(parts, 'styles', 'styles')
  const known = new Map(
    childrenOf(tree, 'w:style').map((style) => [
      childrenOf(style, 'w:name')[0]?.attributes['w:val']?.toLowerCase(),
      style.attributes['w:styleId'],
    ]),
  )
  const ids = new Map()
  for (const style of ownStyles()) {
    const ours = style.attributes['w:styleId']
    const theirs = known.get(style.children[0].attributes['w:val'].toLowerCase())
    ids.set(ours, theirs ?? ours)
    if (ours === 'Normal') style.attributes['w:default'] = '1'
    if (theirs === undefined) tree.children.push(style)
  }
  return (id) => ids.get(id) ?? id
}

const deepest = 9
const bullets = ['•', '◦', '▪']

function levelOf(index, isNumbered) {
  const indent = { 'w:left': String(720 + 360 * index), 'w:hanging': '360' }
  return element('w:lvl', { 'w:ilvl': String(index) }, [
    w('start', 1),
    w('numFmt', isNumbered ? ['decimal', 'lowerLetter', 'lowerRoman'][index % 3] : 'bullet'),
    w('lvlText', isNumbered ? `%${index + 1}.` : bullets[index % 3]),
    w('lvlJc', 'left'),
    element('w:pPr', {}, [element('w:ind', indent)]),
  ])
}

const after = (numbers) => String(Math.max(0, ...numbers.map(Number).filter(Number.isFinite)) + 1)

/** The number of a new list, which counts from 1. */
export function newList(parts, isNumbered) {
  const tree = partOf(parts, 'numbering', 'numbering')
  const abstracts = childrenOf(tree, 'w:abstractNum')
  const lists = childrenOf(tree, 'w:num')
  const abstractId = after(abstracts.map(({ attributes }) => attributes['w:abstractNumId']))
  const id = after(lists.map(({ attributes }) => attributes['w:numId']))
  const made = element('w:abstractNum', { 'w:abstractNumId': abstractId }, [
    w('multiLevelType', 'hybridMultilevel'),
    ...Array.from({ length: deepest }, (_, index) => levelOf(index, isNumbered)),
  ])
  const first = tree.children.findIndex((each) => each.name === 'w:num')
  tree.children.splice(first < 0 ? tree.children.length : first, 0, made)
  const last = tree.children.findLastIndex((each) => each.name === 'w:num')
  const at = last < 0 ? tree.children.indexOf(made) : last
  const list = element('w:num', { 'w:numId': id }, [w('abstractNumId', abstractId)])
  tree.children.splice(at + 1, 0, list)
  return id
}
