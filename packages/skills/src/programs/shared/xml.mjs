/** XML as a tree of `{name, attributes, children}`, a child being an element or a text; read and written again. */

const entities = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

const decode = (text) =>
  text.replaceAll(/&(#x[0-9a-f]+|#\d+|\w+);/gi, (whole, name) => {
    if (name[0] === '#')
      return String.fromCodePoint(
        name[1].toLowerCase() === 'x' ? parseInt(name.slice(2), 16) : Number(name.slice(1)),
      )
    return entities[name] ?? whole
  })

/** What XML cannot hold is left out. */
export const escape = (text) =>
  String(text)
    .replaceAll(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')

const escapeValue = (text) =>
  escape(text).replaceAll('"', '&quot;').replaceAll('\n', '&#10;').replaceAll('\t', '&#9;')

const token =
  /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!\[CDATA\[([\s\S]*?)\]\]>|<!DOCTYPE|<\/([^\s>]+)\s*>|<([^\s/>]+)((?:\s+[^\s=>/]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(\/?)>|([^<]+)/gy

const attribute = /([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g

function attributesOf(text) {
  const attributes = {}
  for (const [, name, double, single] of text.matchAll(attribute))
    attributes[name] = decode(double ?? single ?? '')
  return attributes
}

/** The root element. Throws on what is not well-formed, and on a document type. */
export function parse(text) {
  const top = { name: '', attributes: {}, children: [] }
  const open = [top]
  const source = text.replace(/^\uFEFF/, '')
  token.lastIndex = 0
  while (token.lastIndex < source.length) {
    const at = token.lastIndex
    const found = token.exec(source)
    if (!found) throw new Error(`XML is broken at character ${at}`)
    const [whole, cdata, closing, name, attributes, empty, plain] = found
    const parent = open.at(-1)
    if (whole === '<!DOCTYPE') throw new Error('XML with a document type is not read')
    if (plain !== undefined) parent.children.push(decode(plain))
    else if (cdata !== undefined) parent.children.push(cdata)
    else if (closing !== undefined) {
      if (open.length === 1 || parent.name !== closing)
        throw new Error(`XML is broken: </${closing}> closes nothing`)
      open.pop()
    } else if (name !== undefined) {
      const element = { name, attributes: attributesOf(attributes), children: [] }
      parent.children.push(element)
      if (!empty) open.push(element)
    }
  }
  const roots = top.children.filter((child) => typeof child !== 'string')
  if (open.length > 1 || roots.length !== 1) throw new Error('XML is broken: it has no one root')
  return roots[0]
}

export const element = (name, attributes = {}, children = []) => ({ name, attributes, children })

export function serialize(root) {
  return `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n${write(root)}`
}

function write({ name, attributes, children }) {
  const said = Object.entries(attributes)
    .map(([key, value]) => ` ${key}="${escapeValue(value)}"`)
    .join('')
  if (children.length === 0) return `<${name}${said}/>`
  const inner = children.map((child) => (typeof child === 'string' ? escape(child) : write(child)))
  return `<${name}${said}>${inner.join('')}</${name}>`
}

export const elements = (node) => node.children.filter((child) => typeof child !== 'string')

/** Children of a name; `child` is the first. */
export const childrenOf = (node, name) => elements(node).filter((each) => each.name === name)
export const child = (node, name) => elements(node).find((each) => each.name === name)

/** All below, in their order, of any of the names. */
export function* below(node, ...names) {
  for (const each of elements(node)) {
    if (names.includes(each.name)) yield each
    yield* below(each, ...names)
  }
}

export const textOf = (node) =>
  node.children.map((each) => (typeof each === 'string' ? each : textOf(each))).join('')
