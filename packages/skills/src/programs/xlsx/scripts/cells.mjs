/** Addresses and contents of cells. */
import { Refused } from './lib/cli.mjs'
import { child, childrenOf, element, textOf } from './lib/xml.mjs'

const mostRows = 1_048_576
const mostColumns = 16_384

export function columnName(index) {
  let name = ''
  for (let rest = index + 1; rest > 0; rest = Math.floor((rest - 1) / 26))
    name = String.fromCharCode(65 + ((rest - 1) % 26)) + name
  return name
}

export function columnIndex(name) {
  let index = 0
  for (const letter of name.toUpperCase()) index = index * 26 + letter.charCodeAt(0) - 64
  return index - 1
}

/** `B3` as `{row, column}` from 0. */
export function addressOf(text) {
  const found = /^\$?([a-z]{1,3})\$?(\d{1,7})$/i.exec(text.trim())
  const address = found && { row: Number(found[2]) - 1, column: columnIndex(found[1]) }
  if (!address || address.row < 0 || address.row >= mostRows || address.column >= mostColumns)
    throw new Refused(`${text} is no cell such as B3`)
  return address
}

export const addressName = ({ row, column }) => columnName(column) + (row + 1)

/** `A1:C10`, or one cell. */
export function rangeOf(text) {
  const [from, to = from] = text.split(':')
  const [a, b] = [addressOf(from), addressOf(to)]
  return {
    top: Math.min(a.row, b.row),
    bottom: Math.max(a.row, b.row),
    left: Math.min(a.column, b.column),
    right: Math.max(a.column, b.column),
  }
}

const msPerDay = 86_400_000
const epoch = (is1904) => Date.UTC(is1904 ? 1904 : 1899, is1904 ? 0 : 11, is1904 ? 1 : 30)

/** Days as a spreadsheet counts them; a time of day is their fraction. */
export function serialOf(text, is1904 = false) {
  const at = Date.parse(text.length === 10 ? `${text}T00:00:00Z` : text.replace(/Z?$/, 'Z'))
  if (Number.isNaN(at)) throw new Refused(`${text} is no date such as 2026-01-31`)
  return (at - epoch(is1904)) / msPerDay
}

export function dateOf(serial, is1904) {
  const at = new Date(epoch(is1904) + Math.round(serial * msPerDay))
  if (Number.isNaN(at.getTime())) return serial
  const text = at.toISOString()
  if (serial >= 0 && serial < 1) return text.slice(11, 19)
  return text.endsWith('T00:00:00.000Z') ? text.slice(0, 10) : text.slice(0, 19)
}

/** Runs of a shared or inline string, without the readings that some languages put above them. */
export const stringOf = (node) =>
  node.children
    .filter((each) => typeof each !== 'string')
    .map((each) => {
      if (each.name === 't') return textOf(each)
      return each.name === 'r' ? childrenOf(each, 't').map(textOf).join('') : ''
    })
    .join('')

/** Value and formula of a cell as a reader sees them. */
export function readCell(cell, { strings, isDate, is1904 }) {
  const raw = child(cell, 'v')
  const formula = child(cell, 'f')
  const value = valueOf(cell, raw && textOf(raw), { strings, isDate, is1904 })
  return { value, formula: formula && textOf(formula) }
}

function valueOf(cell, raw, { strings, isDate, is1904 }) {
  const { t = 'n', s } = cell.attributes
  if (t === 'inlineStr') return stringOf(child(cell, 'is') ?? element('is'))
  if (raw === undefined || raw === '') return null
  if (t === 's') return strings[Number(raw)] ?? ''
  if (t === 'b') return raw === '1'
  if (t === 'str' || t === 'e' || t === 'd') return raw
  const number = Number(raw)
  return isDate(Number(s ?? 0)) ? dateOf(number, is1904) : number
}

/**
 * Puts a value into a cell: null, a boolean, a number, a text, a text that begins with = (a formula), or
 * `{value, formula, date, format, bold}`. `styleOf` gives the number of a style.
 */
export function writeCell(cell, given, { styleOf, is1904 }) {
  const whole = typeof given === 'object' && given !== null ? given : plain(given)
  const { value = null, formula, date, format, bold } = whole
  const style = styleOf({ format: format ?? formatOf(date), bold }, cell.attributes.s)
  if (style !== undefined) cell.attributes.s = String(style)
  delete cell.attributes.t
  cell.children = []
  if (formula !== undefined) {
    cell.children.push(element('f', {}, [String(formula).replace(/^=/, '')]))
    return
  }
  const content = date === undefined ? value : serialOf(date, is1904)
  if (content === null) return
  if (typeof content === 'number') {
    if (!Number.isFinite(content)) throw new Refused(`${content} is no number for a cell`)
    cell.children.push(element('v', {}, [String(content)]))
  } else if (typeof content === 'boolean') {
    cell.attributes.t = 'b'
    cell.children.push(element('v', {}, [content ? '1' : '0']))
  } else {
    const text = String(content)
    if (text.length > 32_767) throw new Refused('a cell holds at most 32767 characters')
    cell.attributes.t = 'inlineStr'
    const keep = /^\s|\s$|\n/.test(text) ? { 'xml:space': 'preserve' } : {}
    cell.children.push(element('is', {}, [element('t', keep, [text])]))
  }
}

const plain = (given) =>
  typeof given === 'string' && given.length > 1 && given.startsWith('=')
    ? { formula: given }
    : { value: given }

const formatOf = (date) => {
  if (date === undefined) return undefined
  return date.length === 10 ? 'yyyy-mm-dd' : 'yyyy-mm-dd hh:mm:ss'
}
