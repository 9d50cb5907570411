/** Comma-separated values. RFC 4180 */

export function parseCsv(text, separator = ',') {
  const rows = []
  let row = []
  let cell = ''
  let isQuoted = false
  const source = text.replace(/^\uFEFF/, '')
  const endCell = () => {
    row.push(cell)
    cell = ''
  }
  for (let at = 0; at < source.length; at++) {
    const each = source[at]
    if (isQuoted) {
      if (each !== '"') cell += each
      else if (source[at + 1] === '"') cell += source[++at]
      else isQuoted = false
    } else if (each === '"' && cell === '') isQuoted = true
    else if (each === separator) endCell()
    else if (each === '\n') {
      endCell()
      rows.push(row)
      row = []
    } else if (each !== '\r' || source[at + 1] !== '\n') cell += each
  }
  if (cell !== '' || row.length > 0) {
    endCell()
    rows.push(row)
  }
  return rows
}

export const csvOf = (rows) =>
  rows.map((row) => row.map((cell) => quoted(cell)).join(',')).join('\n')

function quoted(cell) {
  const text = cell === null || cell === undefined ? '' : String(cell)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** A number where it is written as one; codes with leading zeros, and long ones, stay texts. */
export function typed(text) {
  if (text === '') return null
  if (/^-?(0|[1-9]\d{0,14})(\.\d{1,15})?(e[+-]?\d{1,3})?$/i.test(text)) return Number(text)
  if (/^(true|false)$/i.test(text)) return text.toLowerCase() === 'true'
  if (/^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text))) return { date: text }
  return text
}
