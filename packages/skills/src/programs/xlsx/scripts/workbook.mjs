/** A workbook over the parts of its file. */
import { Refused } from './lib/cli.mjs'
import { begin, officeTypes, openPackage } from './lib/package.mjs'
import { below, child, childrenOf, element } from './lib/xml.mjs'
import { addressName, addressOf, columnName, readCell, stringOf, writeCell } from './cells.mjs'
import { main, newStyles, stylesOf } from './styles.mjs'

const type = (name) => `application/vnd.openxmlformats-officedocument.spreadsheetml.${name}+xml`
const bookPart = 'xl/workbook.xml'

export function newWorkbook() {
  const parts = begin(bookPart, type('sheet.main'))
  const book = element('workbook', { xmlns: main, 'xmlns:r': officeTypes }, [element('sheets')])
  parts.setTree(bookPart, book)
  parts.setTree('xl/styles.xml', newStyles())
  parts.declare('xl/styles.xml', type('styles'))
  parts.relate(bookPart, `${officeTypes}/styles`, 'xl/styles.xml')
  return workbookOf(parts)
}

export const openWorkbook = (file) => workbookOf(openPackage(file))

function workbookOf(parts) {
  const name = parts.main()
  const book = parts.tree(name)
  if (book.name !== 'workbook') throw new Refused('the file is no workbook of the kind .xlsx')
  const relations = () => parts.relations(name)
  const ofType = (kind) => relations().find((each) => each.type.endsWith(`/${kind}`))?.target
  const stylesPart = ofType('styles')
  const stringsPart = ofType('sharedStrings')
  const styles = stylesOf(stylesPart ? parts.tree(stylesPart) : newStyles())
  const strings = stringsPart ? childrenOf(parts.tree(stringsPart), 'si').map(stringOf) : []
  const is1904 = ['1', 'true'].includes(child(book, 'workbookPr')?.attributes.date1904)
  const context = { strings, is1904, ...styles }

  const entries = () => childrenOf(child(book, 'sheets') ?? element('sheets'), 'sheet')
  const partOf = (entry) =>
    relations().find(({ id }) => id === entry.attributes['r:id'])?.target ?? ''

  /** Results that were computed before the change are not believed any more. */
  function computeAnew() {
    const old = ofType('calcChain')
    if (old) {
      parts.remove(old)
      parts.undeclare(old)
      const list = parts.tree(`${name.replace(/[^/]*$/, '')}_rels/${name.split('/').at(-1)}.rels`)
      list.children = list.children.filter((each) => !each.attributes?.Type.endsWith('/calcChain'))
    }
    const setting = child(book, 'calcPr')
    if (setting) setting.attributes.fullCalcOnLoad = '1'
    else insertAfter(book, element('calcPr', { fullCalcOnLoad: '1' }), beforeCalc)
  }

  return {
    names: () => entries().map(({ attributes }) => attributes.name),
    /** The one of that name, or the first. */
    sheet(wanted) {
      const all = entries().filter((entry) => parts.has(partOf(entry)))
      const found = all.find(({ attributes }) => wanted === undefined || attributes.name === wanted)
      if (!found) {
        const there = all.map(({ attributes }) => attributes.name).join(', ')
        throw new Refused(`there is no sheet ${wanted ?? ''}; there are: ${there}`)
      }
      return sheetOf(found.attributes.name, parts.tree(partOf(found)), context)
    },
    addSheet(title) {
      checkTitle(title, this.names())
      let number = entries().length + 1
      while (parts.has(`xl/worksheets/sheet${number}.xml`)) number++
      const part = `xl/worksheets/sheet${number}.xml`
      const tree = element('worksheet', { xmlns: main }, [element('sheetData')])
      parts.setTree(part, tree)
      parts.declare(part, type('worksheet'))
      const ids = entries().map(({ attributes }) => Number(attributes.sheetId))
      const attributes = { name: title, sheetId: String(Math.max(0, ...ids) + 1) }
      attributes['r:id'] = parts.relate(name, `${officeTypes}/worksheet`, part)
      child(book, 'sheets').children.push(element('sheet', attributes))
      return sheetOf(title, tree, context)
    },
    save(file) {
      computeAnew()
      parts.save(file)
    },
  }
}

const beforeCalc = ['sheets', 'functionGroups', 'externalReferences', 'definedNames']

/** Children have an order, and one that is out of it makes a reader refuse the file. */
function insertAfter(node, made, names) {
  const at = node.children.findLastIndex((each) => names.includes(each.name))
  node.children.splice(at + 1, 0, made)
}

function checkTitle(title, others) {
  if (title.length === 0 || title.length > 31 || /[[\]:*?/\\]|^'|'$/.test(title))
    throw new Refused(`${title}: a sheet's name has 1 to 31 characters, none of [ ] : * ? / \\`)
  if (others.some((other) => other.toLowerCase() === title.toLowerCase()))
    throw new Refused(`there is a sheet ${title} already`)
}

function sheetOf(name, tree, context) {
  const data = child(tree, 'sheetData')
  // It need not be there, and what it says may not hold for long.
  tree.children = tree.children.filter((each) => each.name !== 'dimension')
  if (!data) throw new Refused(`sheet ${name} holds no cells`)
  const rows = new Map()
  let next = 0
  for (const row of childrenOf(data, 'row')) {
    next = Number(row.attributes.r ?? next + 1)
    row.attributes.r = String(next)
    rows.set(next - 1, rowOf(row, next - 1))
  }

  /** Rows and cells stand in their order. */
  function cellAt({ row, column }) {
    if (!rows.has(row)) {
      const made = element('row', { r: String(row + 1) })
      insertSorted(data.children, made, (each) => Number(each.attributes?.r) > row + 1)
      rows.set(row, rowOf(made, row))
    }
    return rows.get(row).cell(column)
  }

  const edge = () => {
    let [bottom, right] = [-1, -1]
    for (const [row, { columns }] of rows) {
      for (const [column, cell] of columns) {
        if (cell.children.length === 0) continue
        bottom = Math.max(bottom, row)
        right = Math.max(right, column)
      }
    }
    return { bottom, right }
  }

  return {
    name,
    edge,
    /** The used range, such as `A1:C7`; undefined where nothing is in it. */
    used() {
      const { bottom, right } = edge()
      return bottom < 0 ? undefined : `A1:${columnName(right)}${bottom + 1}`
    },
    at(row, column) {
      const cell = rows.get(row)?.columns.get(column)
      return cell ? readCell(cell, context) : { value: null, formula: undefined }
    },
    set(address, value) {
      writeCell(cellAt(typeof address === 'string' ? addressOf(address) : address), value, context)
    },
    merged: () => [...below(tree, 'mergeCell')].map(({ attributes }) => attributes.ref),
    setWidths(widths) {
      const cols = widths.flatMap((width, i) => {
        if (width === null || width === undefined) return []
        const number = String(i + 1)
        const attributes = { min: number, max: number, width: String(width), customWidth: '1' }
        return [element('col', attributes)]
      })
      if (cols.length === 0) return
      tree.children = tree.children.filter((each) => each.name !== 'cols')
      tree.children.splice(tree.children.indexOf(data), 0, element('cols', {}, cols))
    },
    /** The first rows stay in sight. */
    freeze(count) {
      const pane = element('pane', {
        ySplit: String(count),
        topLeftCell: addressName({ row: count, column: 0 }),
        activePane: 'bottomLeft',
        state: 'frozen',
      })
      const view = element('sheetView', { workbookViewId: '0' }, [pane])
      tree.children.splice(tree.children.indexOf(data), 0, element('sheetViews', {}, [view]))
    },
  }
}

/** Before the first that is after it, of which there is none most often. */
function insertSorted(children, made, isAfter) {
  let at = children.length
  while (at > 0 && (typeof children[at - 1] === 'string' || isAfter(children[at - 1]))) at--
  children.splice(at, 0, made)
}

function rowOf(node, row) {
  const columns = new Map()
  let next = 0
  for (const cell of childrenOf(node, 'c')) {
    next = cell.attributes.r === undefined ? next : addressOf(cell.attributes.r).column
    cell.attributes.r = addressName({ row, column: next })
    columns.set(next, cell)
    next++
  }
  return {
    columns,
    cell(column) {
      const known = columns.get(column)
      if (known) return known
      const made = element('c', { r: addressName({ row, column }) })
      const isAfter = (each) => each.name === 'c' && addressOf(each.attributes.r).column > column
      insertSorted(node.children, made, isAfter)
      columns.set(column, made)
      delete node.attributes.spans
      return made
    },
  }
}
