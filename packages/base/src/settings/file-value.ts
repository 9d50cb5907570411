/** A value of a settings file, as the text that the variable of the setting would hold. */
import type { Document, Node } from 'yaml'
import { isMap, isScalar, isSeq } from 'yaml'
import type { FileForm } from './setting.ts'

export type FileValue = { text: string } | { wrong: string }

const usualForm: FileForm = { type: 'text', schema: { type: 'string' } }

/** The characters of the file: YAML reads `007` as a number, and a key may look like one. */
function scalarText(node: unknown): string | undefined {
  if (node === null) return ''
  if (!isScalar(node)) return undefined
  if (node.value === null) return ''
  return typeof node.value === 'string' ? node.value : node.source
}

function joined(parts: readonly (string | undefined)[], wrong: string): FileValue {
  const texts = parts.filter((part) => part !== undefined)
  if (texts.length < parts.length) return { wrong }
  return texts.some((text) => text.includes(','))
    ? { wrong: 'a part of it has a comma: write each part by itself' }
    : { text: texts.join(',') }
}

const pairText = (key: unknown, value: unknown, between: string): string | undefined => {
  const [name, text] = [scalarText(key), scalarText(value)]
  return name === undefined || text === undefined ? undefined : `${name}${between}${text}`
}

/** `node`: null where the key has no value. */
export function fileValue(document: Document, node: Node | null, form = usualForm): FileValue {
  const text = scalarText(node)
  if (text !== undefined) return { text }
  if (form.type === 'json' && node) return { text: JSON.stringify(node.toJS(document)) }
  if (form.type !== 'text' && isSeq(node))
    return joined(node.items.map(scalarText), 'each part of the list must be a text')
  if (form.type === 'map' && isMap(node))
    return joined(
      node.items.map(({ key, value }) => pairText(key, value, form.between)),
      'each value below it must be a text',
    )
  const wanted = { text: 'one value', list: 'a list', map: 'names with values', json: 'a value' }
  return { wrong: `must be ${wanted[form.type]}, and no ${isSeq(node) ? 'list' : 'map'}` }
}
