#!/usr/bin/env node
/** Reads, makes and changes spreadsheets (.xlsx). */
import { Refused, runCommands } from './lib/cli.mjs'
import { readJson, readText } from './lib/inputs.mjs'
import { addressName, addressOf, rangeOf } from './cells.mjs'
import { csvOf, parseCsv, typed } from './csv.mjs'
import { newWorkbook, openWorkbook } from './workbook.mjs'

const text = { type: 'string' }
const flag = { type: 'boolean' }

function read(file, { sheet: wanted, range, format = 'csv', formulas }) {
  const sheet = openWorkbook(file).sheet(wanted)
  const { bottom, right } = sheet.edge()
  const area = range ? rangeOf(range) : { top: 0, left: 0, bottom, right }
  const shown = ({ value, formula }) => (formulas && formula !== undefined ? `=${formula}` : value)
  const rows = []
  for (let row = area.top; row <= Math.min(area.bottom, bottom); row++) {
    const cells = []
    for (let column = area.left; column <= Math.min(area.right, right); column++)
      cells.push(shown(sheet.at(row, column)))
    rows.push(cells)
  }
  if (format === 'csv') return csvOf(rows)
  if (format === 'json') return rows
  if (format !== 'records') throw new Refused('--format is csv, json or records')
  const [heads = [], ...rest] = rows
  return rest.map((row) => Object.fromEntries(heads.map((head, i) => [String(head), row[i]])))
}

function info(file) {
  const book = openWorkbook(file)
  return book.names().map((name) => {
    try {
      const sheet = book.sheet(name)
      return { name, used: sheet.used() ?? null, merged: sheet.merged() }
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      return { name, note: 'a chart or dialog, without cells' }
    }
  })
}

/** Sheets as `[{name, rows, widths?, header?}]` out of whatever the file is. */
function sheetsIn(file, { sheet: name = 'Sheet1', separator, raw }) {
  if (!/\.json$/i.test(file)) {
    const rows = parseCsv(readText(file), separator === 'tab' ? '\t' : separator)
    return [{ name, rows: raw ? rows : rows.map((row) => row.map(typed)), header: true }]
  }
  const given = readJson(file)
  const sheets = Array.isArray(given) ? [{ name, rows: given }] : given.sheets
  if (!Array.isArray(sheets) || sheets.length === 0)
    throw new Refused(`${file}: needs {"sheets": [{"name", "rows"}]}, or an array of rows`)
  return sheets.map((sheet, i) => ({
    ...sheet,
    name: sheet.name ?? `Sheet${i + 1}`,
    rows: rowsIn(sheet.rows),
  }))
}

/** Rows are arrays, or objects of which the names are a first row. */
function rowsIn(rows) {
  if (!Array.isArray(rows)) throw new Refused('rows: must be an array')
  if (rows.every(Array.isArray)) return rows
  if (rows.some((row) => typeof row !== 'object' || row === null || Array.isArray(row)))
    throw new Refused('rows: must be arrays all, or objects all')
  const heads = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  return [heads, ...rows.map((row) => heads.map((head) => row[head] ?? null))]
}

function fill(sheet, rows, { from = { row: 0, column: 0 }, isHeaded = false } = {}) {
  for (const [i, row] of rows.entries()) {
    for (const [j, value] of row.entries()) {
      if (value === null || value === undefined) continue
      const isHead = isHeaded && i === 0 && typeof value !== 'object'
      sheet.set(
        { row: from.row + i, column: from.column + j },
        isHead ? { value, bold: true } : value,
      )
    }
  }
}

function create(file, options) {
  if (!options.from) throw new Refused('--from is required: a .json or .csv file')
  const book = newWorkbook()
  for (const { name, rows, widths, header } of sheetsIn(options.from, options)) {
    const sheet = book.addSheet(name)
    fill(sheet, rows, { isHeaded: header === true })
    if (header) sheet.freeze(1)
    sheet.setWidths(widths ?? widthsOf(rows))
  }
  book.save(file)
  return `${file}: ${book.names().join(', ')}`
}

const lengthOf = (value) =>
  typeof value === 'object' && value !== null ? 12 : String(value ?? '').length

/** Wide enough for what is in the first rows, within reason. */
function widthsOf(rows) {
  const widths = []
  for (const row of rows.slice(0, 200))
    for (const [i, value] of row.entries())
      widths[i] = Math.max(widths[i] ?? 8, Math.min(60, lengthOf(value) + 2))
  return widths
}

function set(file, changes, { sheet: wanted, out }) {
  if (changes.length === 0) throw new Refused('at least one change is needed, such as B3=12')
  const book = openWorkbook(file)
  const sheet = book.sheet(wanted)
  for (const change of changes) {
    const at = change.indexOf('=')
    if (at < 1) throw new Refused(`${change} is no change such as B3=12`)
    const value = change.slice(at + 1)
    sheet.set(addressOf(change.slice(0, at)), value.startsWith('=') ? value : typed(value))
  }
  book.save(out ?? file)
  return `${out ?? file}: ${changes.length} changed`
}

function write(file, { from, sheet: wanted, at, append, out, ...options }) {
  if (!from) throw new Refused('--from is required: a .json or .csv file')
  const book = openWorkbook(file)
  const sheet =
    wanted !== undefined && !book.names().includes(wanted)
      ? book.addSheet(wanted)
      : book.sheet(wanted)
  const [{ rows }] = sheetsIn(from, options)
  const start = append ? { row: sheet.edge().bottom + 1, column: 0 } : addressOf(at ?? 'A1')
  fill(sheet, rows, { from: start })
  book.save(out ?? file)
  return `${out ?? file}: ${rows.length} rows in ${sheet.name} from ${addressName(start)}`
}

await runCommands('xlsx.mjs', {
  info: {
    usage: 'FILE',
    about: 'Names of the sheets, the range that each uses, and merged cells.',
    most: 1,
    run: ([file]) => info(file),
  },
  read: {
    usage: 'FILE [--sheet NAME] [--range A1:C9] [--format csv|json|records] [--formulas]',
    about: 'Cells of a sheet, the first if none is named. Dates come as 2026-01-31.',
    options: { sheet: text, range: text, format: text, formulas: flag },
    most: 1,
    run: ([file], options) => read(file, options),
  },
  create: {
    usage: 'FILE --from DATA.json|DATA.csv [--sheet NAME] [--separator ,|tab] [--raw]',
    about: 'A new workbook. --raw keeps everything in a CSV as text.',
    options: { from: text, sheet: text, separator: text, raw: flag },
    most: 1,
    run: ([file], options) => create(file, options),
  },
  set: {
    usage: "FILE CELL=VALUE... [--sheet NAME] [--out FILE], a formula as 'B3==SUM(B1:B2)'",
    about: 'Changes single cells; all else in the file stays as it is.',
    options: { sheet: text, out: text },
    least: 2,
    run: ([file, ...changes], options) => set(file, changes, options),
  },
  write: {
    usage: 'FILE --from DATA.json|DATA.csv [--sheet NAME] [--at B2 | --append] [--out FILE]',
    about: 'Puts rows into a sheet, which is made if there is none of the name.',
    options: {
      from: text,
      sheet: text,
      at: text,
      append: flag,
      out: text,
      separator: text,
      raw: flag,
    },
    most: 1,
    run: ([file], options) => write(file, options),
  },
})
