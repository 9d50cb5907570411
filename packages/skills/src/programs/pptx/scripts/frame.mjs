/** The parts of a presentation that its slides stand on: theme, master, layouts. */
import { begin, officeTypes } from './lib/package.mjs'
import { element, parse } from './lib/xml.mjs'

export const drawing = 'http://schemas.openxmlformats.org/drawingml/2006/main'
export const presentation = 'http://schemas.openxmlformats.org/presentationml/2006/main'
export const type = (name) =>
  `application/vnd.openxmlformats-officedocument.presentationml.${name}+xml`
export const names = { 'xmlns:a': drawing, 'xmlns:r': officeTypes, 'xmlns:p': presentation }
export const mainPart = 'ppt/presentation.xml'

/** In English Metric Units, 914400 an inch. */
export const page = { width: 12_192_000, height: 6_858_000 }
const places = {
  ctrTitle: [914_400, 1_700_000, 10_363_200, 1_600_000],
  subTitle: [1_524_000, 3_450_000, 9_144_000, 1_400_000],
  title: [838_200, 365_125, 10_515_600, 1_200_000],
  body: [838_200, 1_700_000, 10_515_600, 4_500_000],
}

export const layouts = { title: 'slideLayout1', content: 'slideLayout2' }

const colors = {
  dk1: '000000',
  lt1: 'FFFFFF',
  dk2: '1F3864',
  lt2: 'E7E6E6',
  accent1: '2F5597',
  accent2: 'C55A11',
  accent3: '7F7F7F',
  accent4: 'BF9000',
  accent5: '4472C4',
  accent6: '548235',
  hlink: '0563C1',
  folHlink: '954F72',
}

const fill = '<a:solidFill><a:schemeClr val="phClr"/></a:solidFill>'
const line = `<a:ln w="9525">${fill}<a:prstDash val="solid"/></a:ln>`
const effect = '<a:effectStyle><a:effectLst/></a:effectStyle>'
const font = '<a:latin typeface="Calibri"/><a:ea typeface=""/><a:cs typeface=""/>'
const theme = `<a:theme xmlns:a="${drawing}" name="Plain"><a:themeElements><a:clrScheme name="Plain">${Object.entries(
  colors,
)
  .map(([name, value]) => `<a:${name}><a:srgbClr val="${value}"/></a:${name}>`)
  .join(
    '',
  )}</a:clrScheme><a:fontScheme name="Plain"><a:majorFont>${font}</a:majorFont><a:minorFont>${font}</a:minorFont></a:fontScheme><a:fmtScheme name="Plain"><a:fillStyleLst>${fill.repeat(3)}</a:fillStyleLst><a:lnStyleLst>${line.repeat(3)}</a:lnStyleLst><a:effectStyleLst>${effect.repeat(3)}</a:effectStyleLst><a:bgFillStyleLst>${fill.repeat(3)}</a:bgFillStyleLst></a:fmtScheme></a:themeElements></a:theme>`

export const placeOf = ([x, y, cx, cy], name = 'a:xfrm') =>
  element(name, {}, [
    element('a:off', { x: String(x), y: String(y) }),
    element('a:ext', { cx: String(cx), cy: String(cy) }),
  ])

/** A shape that stands for a placeholder; without a place it has that of its layout. */
export function placeholder({ id, kind, index, place, content }) {
  const attributes = { type: kind, ...(index === undefined ? {} : { idx: String(index) }) }
  return element('p:sp', {}, [
    element('p:nvSpPr', {}, [
      element('p:cNvPr', { id: String(id), name: `${kind} ${id}` }),
      element('p:cNvSpPr', {}, [element('a:spLocks', { noGrp: '1' })]),
      element('p:nvPr', {}, [element('p:ph', attributes)]),
    ]),
    element('p:spPr', {}, place ? [placeOf(place)] : []),
    element('p:txBody', {}, [
      element('a:bodyPr', {}, [element('a:normAutofit')]),
      element('a:lstStyle'),
      ...(content ?? [element('a:p')]),
    ]),
  ])
}

export const shapeTree = (shapes) =>
  element('p:cSld', {}, [
    element('p:spTree', {}, [
      element('p:nvGrpSpPr', {}, [
        element('p:cNvPr', { id: '1', name: '' }),
        element('p:cNvGrpSpPr'),
        element('p:nvPr'),
      ]),
      element('p:grpSpPr'),
      ...shapes,
    ]),
  ])

const colorMap = {
  bg1: 'lt1',
  tx1: 'dk1',
  bg2: 'lt2',
  tx2: 'dk2',
  ...Object.fromEntries([1, 2, 3, 4, 5, 6].map((n) => [`accent${n}`, `accent${n}`])),
  hlink: 'hlink',
  folHlink: 'folHlink',
}

const textStyles = () =>
  parse(
    `<p:txStyles><p:titleStyle><a:lvl1pPr><a:defRPr sz="3600" b="1"><a:solidFill><a:schemeClr val="tx2"/></a:solidFill><a:latin typeface="+mj-lt"/></a:defRPr></a:lvl1pPr></p:titleStyle><p:bodyStyle>${[1, 2, 3, 4, 5].map(levelStyle).join('')}</p:bodyStyle><p:otherStyle/></p:txStyles>`,
  )

const levelStyle = (level) =>
  `<a:lvl${level}pPr marL="${342_900 * level}" indent="-342900"><a:spcBef><a:spcPts val="600"/></a:spcBef><a:buFont typeface="Arial"/><a:buChar char="•"/><a:defRPr sz="${2400 - 200 * (level - 1)}"><a:solidFill><a:schemeClr val="tx1"/></a:solidFill><a:latin typeface="+mn-lt"/></a:defRPr></a:lvl${level}pPr>`

function layoutOf(kind, name, shapes) {
  return element('p:sldLayout', { ...names, type: kind, preserve: '1' }, [
    { ...shapeTree(shapes), attributes: { name } },
    element('p:clrMapOvr', {}, [element('a:masterClrMapping')]),
  ])
}

/** A presentation without slides. */
export function newPresentation() {
  const parts = begin(mainPart, type('presentation.main'))
  const master = 'ppt/slideMasters/slideMaster1.xml'
  const add = (name, tree, kind) => {
    parts.setTree(name, tree)
    parts.declare(name, kind)
  }
  parts.set('ppt/theme/theme1.xml', `<?xml version="1.0" encoding="UTF-8"?>${theme}`)
  parts.declare('ppt/theme/theme1.xml', 'application/vnd.openxmlformats-officedocument.theme+xml')
  const list = element('p:sldLayoutIdLst')
  add(
    master,
    element('p:sldMaster', names, [
      shapeTree([
        placeholder({ id: 2, kind: 'title', place: places.title }),
        placeholder({ id: 3, kind: 'body', index: 1, place: places.body }),
      ]),
      element('p:clrMap', colorMap),
      list,
      textStyles(),
    ]),
    type('slideMaster'),
  )
  const made = {
    [layouts.title]: layoutOf('title', 'Title Slide', [
      placeholder({ id: 2, kind: 'ctrTitle', place: places.ctrTitle }),
      placeholder({ id: 3, kind: 'subTitle', index: 1, place: places.subTitle }),
    ]),
    [layouts.content]: layoutOf('obj', 'Title and Content', [
      placeholder({ id: 2, kind: 'title' }),
      placeholder({ id: 3, kind: 'body', index: 1 }),
    ]),
  }
  for (const [index, [name, tree]] of Object.entries(made).entries()) {
    const part = `ppt/slideLayouts/${name}.xml`
    add(part, tree, type('slideLayout'))
    parts.relate(part, `${officeTypes}/slideMaster`, master)
    const id = parts.relate(master, `${officeTypes}/slideLayout`, part)
    list.children.push(element('p:sldLayoutId', { id: String(2_147_483_649 + index), 'r:id': id }))
  }
  parts.relate(master, `${officeTypes}/theme`, 'ppt/theme/theme1.xml')
  const tree = element('p:presentation', names)
  add(mainPart, tree, type('presentation.main'))
  const id = parts.relate(mainPart, `${officeTypes}/slideMaster`, master)
  tree.children = [
    element('p:sldMasterIdLst', {}, [element('p:sldMasterId', { id: '2147483648', 'r:id': id })]),
    element('p:sldIdLst'),
    element('p:sldSz', { cx: String(page.width), cy: String(page.height) }),
    element('p:notesSz', { cx: String(page.height), cy: String(page.width) }),
  ]
  return parts
}

/** Notes have a master of their own, which is made when the first are. */
export function notesMaster(parts) {
  const known = parts.relations(mainPart).find((each) => each.type.endsWith('/notesMaster'))
  if (known) return known.target
  const name = 'ppt/notesMasters/notesMaster1.xml'
  const tree = element('p:notesMaster', names, [
    shapeTree([
      placeholder({
        id: 2,
        kind: 'body',
        index: 1,
        place: [685_800, 4_400_000, 5_486_400, 3_600_000],
      }),
    ]),
    element('p:clrMap', colorMap),
  ])
  parts.setTree(name, tree)
  parts.declare(name, type('notesMaster'))
  parts.set('ppt/theme/theme2.xml', `<?xml version="1.0" encoding="UTF-8"?>${theme}`)
  parts.declare('ppt/theme/theme2.xml', 'application/vnd.openxmlformats-officedocument.theme+xml')
  parts.relate(name, `${officeTypes}/theme`, 'ppt/theme/theme2.xml')
  const id = parts.relate(mainPart, `${officeTypes}/notesMaster`, name)
  const list = element('p:notesMasterIdLst', {}, [element('p:notesMasterId', { 'r:id': id })])
  parts.tree(mainPart).children.splice(1, 0, list)
  return name
}
