/** Formats of cells: which of them are dates, and new ones beside those that are there. */
import { child, childrenOf, element, elements } from './lib/xml.mjs'

export const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'

/** The formats that every reader knows by number and that are dates or times. */
const builtinDates = new Set([14, 15, 16, 17, 18, 19, 20, 21, 22, 45, 46, 47])
const builtinFormats = {
  General: 0,
  0: 1,
  '0.00': 2,
  '#,##0': 3,
  '#,##0.00': 4,
  '0%': 9,
  '0.00%': 10,
}
const firstOwn = 164

/** Without texts in quotation marks, colours and conditions, a date has one of these letters. */
const isDateFormat = (code) =>
  /[ymdhs]/i.test(code.replaceAll(/"[^"]*"|\\.|\[(?!h+\]|m+\]|s+\])[^\]]*\]|_.|\*./gi, '')) &&
  !/^general$/i.test(code)

/** A style sheet with one plain style. */
export const newStyles = () =>
  element('styleSheet', { xmlns: main }, [
    element('fonts', { count: '1' }, [fontOf(false)]),
    element('fills', { count: '2' }, [
      element('fill', {}, [element('patternFill', { patternType: 'none' })]),
      element('fill', {}, [element('patternFill', { patternType: 'gray125' })]),
    ]),
    element('borders', { count: '1' }, [
      element(
        'border',
        {},
        ['left', 'right', 'top', 'bottom', 'diagonal'].map((n) => element(n)),
      ),
    ]),
    element('cellStyleXfs', { count: '1' }, [element('xf', plainStyle)]),
    element('cellXfs', { count: '1' }, [element('xf', { ...plainStyle, xfId: '0' })]),
    element('cellStyles', { count: '1' }, [
      element('cellStyle', { name: 'Normal', xfId: '0', builtinId: '0' }),
    ]),
  ])

const plainStyle = { numFmtId: '0', fontId: '0', fillId: '0', borderId: '0' }

const fontOf = (isBold) =>
  element('font', {}, [
    ...(isBold ? [element('b')] : []),
    element('sz', { val: '11' }),
    element('name', { val: 'Calibri' }),
    element('family', { val: '2' }),
  ])

export function stylesOf(sheet) {
  const styles = child(sheet, 'cellXfs') ?? element('cellXfs')
  const own = new Map(
    childrenOf(child(sheet, 'numFmts') ?? element('numFmts'), 'numFmt').map(({ attributes }) => [
      Number(attributes.numFmtId),
      attributes.formatCode,
    ]),
  )
  const formatIds = childrenOf(styles, 'xf').map(({ attributes }) => Number(attributes.numFmtId))
  const dates = formatIds.map((id) =>
    own.has(id) ? isDateFormat(own.get(id)) : builtinDates.has(id),
  )

  function formatId(code) {
    if (Object.hasOwn(builtinFormats, code)) return builtinFormats[code]
    for (const [id, known] of own) if (known === code) return id
    const id = Math.max(firstOwn - 1, ...own.keys()) + 1
    own.set(id, code)
    let list = child(sheet, 'numFmts')
    if (!list) {
      list = element('numFmts')
      sheet.children.unshift(list)
    }
    add(list, element('numFmt', { numFmtId: String(id), formatCode: code }))
    return id
  }

  function boldOf(fontId) {
    const fonts = child(sheet, 'fonts')
    const font = elements(fonts)[fontId]
    if (child(font, 'b')) return fontId
    const bold = { ...font, children: [element('b'), ...font.children] }
    const wanted = JSON.stringify(bold)
    const known = elements(fonts).findIndex((each) => JSON.stringify(each) === wanted)
    return known < 0 ? add(fonts, bold) : known
  }

  function find({ format, bold }, current) {
    const all = childrenOf(styles, 'xf')
    const from = all[Number(current)] ?? all[0]
    const attributes = { ...from.attributes }
    if (format !== undefined) {
      attributes.numFmtId = String(formatId(format))
      attributes.applyNumberFormat = '1'
    }
    if (bold) {
      attributes.fontId = String(boldOf(Number(attributes.fontId ?? 0)))
      attributes.applyFont = '1'
    }
    const wanted = JSON.stringify([attributes, from.children])
    const known = all.findIndex((xf) => JSON.stringify([xf.attributes, xf.children]) === wanted)
    if (known >= 0) return known
    dates.push(format === undefined ? dates[Number(current)] : isDateFormat(format))
    return add(styles, { ...from, attributes })
  }

  const found = new Map()
  return {
    isDate: (style) => dates[style] ?? false,
    /** The style with that format beside what the cell has; undefined where it may stay as it is. */
    styleOf({ format, bold }, current = '0') {
      if (format === undefined && !bold) return undefined
      const key = JSON.stringify([format, bold, current])
      if (!found.has(key)) found.set(key, find({ format, bold }, current))
      return found.get(key)
    },
  }
}

/** Where it is now in its list. */
function add(list, item) {
  list.children.push(item)
  const count = elements(list).length
  list.attributes.count = String(count)
  return count - 1
}
