/** A document as Markdown. */
import { child, childrenOf, elements, textOf as plainOf } from './lib/xml.mjs'

export function markdownOf(parts) {
  const main = parts.main()
  const body = child(parts.tree(main), 'w:body')
  const links = new Map(parts.relations(main).map(({ id, target }) => [id, target]))
  const context = { links, levels: headingLevels(parts, main), isNumbered: numbered(parts, main) }
  return tidy(blocksIn(body, context))
}

/** Headings by their styles, whatever these are called in the language of the document. */
function headingLevels(parts, main) {
  const levels = new Map()
  const styles = parts.relations(main).find(({ type }) => type.endsWith('/styles'))
  if (!styles) return levels
  for (const style of childrenOf(parts.tree(styles.target), 'w:style')) {
    const name = child(style, 'w:name')?.attributes['w:val'] ?? ''
    const outline = child(child(style, 'w:pPr') ?? style, 'w:outlineLvl')?.attributes['w:val']
    const [, digit] = /^heading (\d)$/i.exec(name) ?? []
    const level = digit ? Number(digit) : outline === undefined ? undefined : Number(outline) + 1
    if (level !== undefined && level <= 9) levels.set(style.attributes['w:styleId'], level)
    else if (/^title$/i.test(name)) levels.set(style.attributes['w:styleId'], 1)
  }
  return levels
}

/** Whether a list has numbers, by its number and level. */
function numbered(parts, main) {
  const part = parts.relations(main).find(({ type }) => type.endsWith('/numbering'))
  if (!part) return () => false
  const tree = parts.tree(part.target)
  const formats = new Map()
  for (const each of childrenOf(tree, 'w:abstractNum'))
    for (const level of childrenOf(each, 'w:lvl'))
      formats.set(
        `${each.attributes['w:abstractNumId']}/${level.attributes['w:ilvl']}`,
        child(level, 'w:numFmt')?.attributes['w:val'],
      )
  const abstractOf = new Map(
    childrenOf(tree, 'w:num').map((each) => [
      each.attributes['w:numId'],
      child(each, 'w:abstractNumId')?.attributes['w:val'],
    ]),
  )
  return (id, level) => {
    const format = formats.get(`${abstractOf.get(id)}/${level}`)
    return format !== undefined && format !== 'bullet' && format !== 'none'
  }
}

function blocksIn(node, context) {
  return elements(node).flatMap((each) => {
    if (each.name === 'w:p') return [paragraphOf(each, context)]
    if (each.name === 'w:tbl') return [tableOf(each, context)]
    const isWrapper = ['w:sdt', 'w:sdtContent', 'w:ins', 'w:customXml'].includes(each.name)
    return isWrapper ? blocksIn(each, context) : []
  })
}

function paragraphOf(paragraph, context) {
  const properties = child(paragraph, 'w:pPr')
  const style = properties && child(properties, 'w:pStyle')?.attributes['w:val']
  const level = context.levels.get(style)
  const text = inlineOf(paragraph, context, level !== undefined).trim()
  if (level !== undefined && text !== '')
    return { text: `${'#'.repeat(Math.min(level, 6))} ${text}` }
  const numbering = properties && child(properties, 'w:numPr')
  const id = numbering && child(numbering, 'w:numId')?.attributes['w:val']
  if (id === undefined || id === '0') return { text }
  const depth = Number(child(numbering, 'w:ilvl')?.attributes['w:val'] ?? 0)
  const mark = context.isNumbered(id, depth) ? '1.' : '-'
  return { text: `${'  '.repeat(depth)}${mark} ${text}`, isItem: true }
}

function inlineOf(node, context, isPlain) {
  return elements(node)
    .map((each) => {
      if (each.name === 'w:r') return runOf(each, isPlain)
      if (each.name === 'w:hyperlink') {
        const text = inlineOf(each, context, isPlain)
        const target = context.links.get(each.attributes['r:id'])
        return target && text !== '' ? `[${text}](${target})` : text
      }
      const isInside = ['w:ins', 'w:smartTag', 'w:sdt', 'w:sdtContent', 'w:fldSimple'].includes(
        each.name,
      )
      return isInside ? inlineOf(each, context, isPlain) : ''
    })
    .join('')
    .replaceAll(/\*\*\*\*|(?<!\*)\*\*(?!\*)(\s*)\*\*/g, '$1')
}

const isOn = (node) =>
  node !== undefined && !['0', 'false', 'none'].includes(node.attributes['w:val'])

function runOf(run, isPlain) {
  const text = elements(run).map(pieceOf).join('')
  const properties = child(run, 'w:rPr')
  if (!properties || isPlain || text.trim() === '') return text
  const [, before, said, behind] = /^(\s*)([\s\S]*?)(\s*)$/.exec(text)
  const mark = `${isOn(child(properties, 'w:b')) ? '**' : ''}${isOn(child(properties, 'w:i')) ? '*' : ''}`
  return before + mark + said + mark + behind
}

function pieceOf(piece) {
  if (piece.name === 'w:t') return plainOf(piece)
  if (piece.name === 'w:tab') return '\t'
  if (piece.name === 'w:br' || piece.name === 'w:cr') return '  \n'
  if (piece.name === 'w:noBreakHyphen') return '-'
  return piece.name === 'w:drawing' || piece.name === 'w:pict' ? '[picture]' : ''
}

function tableOf(table, context) {
  const rows = childrenOf(table, 'w:tr').map((row) =>
    childrenOf(row, 'w:tc').map((cell) =>
      blocksIn(cell, context)
        .map(({ text }) => text)
        .filter((text) => text !== '')
        .join(' ')
        .replaceAll(/\s*\n\s*/g, ' ')
        .replaceAll('|', '\\|'),
    ),
  )
  const [head = []] = rows
  const line = (cells) => `| ${cells.join(' | ')} |`
  return { text: [line(head), line(head.map(() => '---')), ...rows.slice(1).map(line)].join('\n') }
}

/** A blank line between blocks, and none between the items of a list. */
function tidy(blocks) {
  const kept = blocks.filter(({ text }) => text !== '')
  return kept
    .map(({ text, isItem }, i) => text + (isItem && kept[i + 1]?.isItem ? '\n' : '\n\n'))
    .join('')
    .trimEnd()
}
