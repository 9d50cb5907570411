/** An Office file: parts in a zip, what type each has, and how one leads to another. */
import { writeFileSync } from 'node:fs'
import { posix } from 'node:path'
import { Refused } from './cli.mjs'
import { strToU8, unzipSync, zipSync } from './fflate.mjs'
import { readBytes } from './inputs.mjs'
import { element, elements, parse, serialize } from './xml.mjs'

const largest = 512 * 1024 * 1024
const base = 'http://schemas.openxmlformats.org'
export const packageTypes = `${base}/package/2006`
export const officeTypes = `${base}/officeDocument/2006/relationships`

export function openPackage(file) {
  const bytes = readBytes(file)
  if (bytes.subarray(0, 8).toString('hex') === 'd0cf11e0a1b11ae1')
    throw new Refused(`${file} is encrypted, or of the format before 2007; neither can be read`)
  let total = 0
  try {
    const parts = unzipSync(bytes, {
      filter({ originalSize }) {
        total += originalSize
        if (total > largest) throw new Refused(`${file} is too large when it is unpacked`)
        return true
      },
    })
    return packageOf(new Map(Object.entries(parts)))
  } catch (error) {
    if (error instanceof Refused) throw error
    throw new Refused(`${file} is not an Office file: ${error.message}`)
  }
}

export const newPackage = () => packageOf(new Map())

function packageOf(parts) {
  const trees = new Map()
  const made = {
    has: (name) => parts.has(name),
    names: () => [...parts.keys()],
    bytes: (name) => parts.get(name),
    set(name, content) {
      trees.delete(name)
      parts.set(name, typeof content === 'string' ? strToU8(content) : content)
    },
    remove(name) {
      trees.delete(name)
      parts.delete(name)
    },
    /** The tree of a part: what is changed in it is saved. */
    tree(name) {
      if (trees.has(name)) return trees.get(name)
      if (!parts.has(name)) throw new Refused(`the file has no part ${name}`)
      const tree = parse(new TextDecoder().decode(parts.get(name)))
      trees.set(name, tree)
      return tree
    },
    setTree(name, tree) {
      parts.set(name, new Uint8Array())
      trees.set(name, tree)
    },
    /** Where a part leads: `{id, type, target}`, targets as names of parts, but for those outside. */
    relations(name) {
      const from = relationsOf(name)
      if (!parts.has(from)) return []
      return elements(made.tree(from)).map(({ attributes }) => ({
        id: attributes.Id,
        type: attributes.Type,
        isOutside: attributes.TargetMode === 'External',
        target:
          attributes.TargetMode === 'External'
            ? attributes.Target
            : resolved(name, attributes.Target),
      }))
    },
    /** The id of a new relation. */
    relate(name, type, target, isOutside = false) {
      const from = relationsOf(name)
      if (!parts.has(from))
        made.setTree(from, element('Relationships', { xmlns: `${packageTypes}/relationships` }))
      const { children } = made.tree(from)
      const taken = new Set(children.map((each) => each.attributes?.Id))
      let number = 1
      while (taken.has(`rId${number}`)) number++
      const Id = `rId${number}`
      const Target = isOutside ? target : posix.relative(posix.dirname(name) || '.', target)
      const outside = isOutside ? { TargetMode: 'External' } : {}
      children.push(element('Relationship', { Id, Type: type, Target, ...outside }))
      return Id
    },
    /** Says of which type a part is. */
    declare(name, type) {
      const { children } = made.tree('[Content_Types].xml')
      const PartName = `/${name}`
      const known = children.find((each) => each.attributes?.PartName === PartName)
      if (known) known.attributes.ContentType = type
      else children.push(element('Override', { PartName, ContentType: type }))
    },
    undeclare(name) {
      const types = made.tree('[Content_Types].xml')
      types.children = types.children.filter((each) => each.attributes?.PartName !== `/${name}`)
    },
    declareExtension(extension, type) {
      const { children } = made.tree('[Content_Types].xml')
      if (children.some((each) => each.attributes?.Extension === extension)) return
      children.unshift(element('Default', { Extension: extension, ContentType: type }))
    },
    /** The main part, which the file's own relations name. */
    main() {
      const found = made.relations('').find(({ type }) => type.endsWith('/officeDocument'))
      if (!found) throw new Refused('the file has no document in it')
      return found.target
    },
    save(file) {
      for (const [name, tree] of trees) parts.set(name, strToU8(serialize(tree)))
      // Readers expect the types first.
      const first = '[Content_Types].xml'
      const names = [first, ...[...parts.keys()].filter((name) => name !== first)]
      const all = Object.fromEntries(names.map((name) => [name, parts.get(name)]))
      writeFileSync(file, zipSync(all, { level: 6 }))
    },
  }
  return made
}

const relationsOf = (name) =>
  name === ''
    ? '_rels/.rels'
    : posix.join(posix.dirname(name), '_rels', `${posix.basename(name)}.rels`)

const resolved = (name, target) =>
  target.startsWith('/') ? target.slice(1) : posix.join(posix.dirname(name), target)

/** The parts that all Office files begin with; `main` is the name and type of the main part. */
export function begin(main, type) {
  const made = newPackage()
  made.setTree('[Content_Types].xml', element('Types', { xmlns: `${packageTypes}/content-types` }))
  made.declareExtension('xml', 'application/xml')
  made.declareExtension('rels', 'application/vnd.openxmlformats-package.relationships+xml')
  made.declare(main, type)
  made.relate('', `${officeTypes}/officeDocument`, main)
  return made
}
