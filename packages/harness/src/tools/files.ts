import { z } from 'zod'
import { readLines, decodeUtf8 } from './lines.ts'
import type { Occurrence } from './replace.ts'
import { occurrencesIn, textsFor, withReplaced } from './replace.ts'
import { confinePath, fileFailure, pathSchema } from './sandbox-paths.ts'
import type { SandboxResult, SandboxTool } from './tool.ts'
import { textResult } from './tool.ts'
import { writeEdited } from './write-edited.ts'

/** Bytes of one read, and of a file that can be edited. [tools/read] */
const largestRead = 256 * 1024
const largestEdit = 10 * 1024 * 1024
/** Places that one edit replaces. */
const mostOccurrences = 100_000

const ReadInput = z.object({
  file_path: z.string(),
  view_range: z.tuple([z.number(), z.number()]).optional(),
})

export const readTool: SandboxTool = {
  name: 'read',
  description:
    'Reads a UTF-8 text file. `view_range` [first, last] picks lines, counted from 1, both included; a last line of 0 or less means to the end. Files above 256 KiB need a range.',
  input_schema: {
    type: 'object',
    properties: {
      file_path: pathSchema,
      view_range: { type: 'array', items: { type: 'integer' }, minItems: 2, maxItems: 2 },
    },
    required: ['file_path'],
  },
  repeat: 'safe',
  async run(sandbox, input, signal) {
    const { file_path, view_range } = ReadInput.parse(input)
    const resolved = confinePath(file_path)
    if ('refused' in resolved) return resolved.refused
    const { path } = resolved
    if (!view_range) {
      const file = await sandbox.read(path, { offset: 0, maxBytes: largestRead })
      if (!file.ok) return fileFailure(file_path, file)
      if (file.size <= largestRead) return shown(file_path, path, file.bytes)
      const why = `${file_path} has ${file.size} bytes, more than ${largestRead}: give a view_range`
      return textResult(why, true)
    }
    const [first, last] = view_range
    if (first < 1 || (last > 0 && last < first)) {
      return textResult(`view_range [${first}, ${last}]: lines are counted from 1, in order`, true)
    }
    const lines = await readLines(sandbox, path, { first, last, maxBytes: largestRead }, signal)
    if (lines === 'interrupted') return textResult('interrupted', true)
    if (!lines.ok) return fileFailure(file_path, lines)
    if (lines.bytes.length === 0 && lines.count) {
      return textResult(`${file_path} has ${lines.count} lines`, true)
    }
    return shown(file_path, path, lines.bytes, lines.isCut)
  },
}

function shown(given: string, path: string, bytes: Uint8Array, isCut = false): SandboxResult {
  const text = decodeUtf8(bytes)
  if (text === undefined)
    return textResult(`${given} is not UTF-8 text; look at it with bash`, true)
  const note = isCut ? `\n[cut at ${largestRead} bytes]` : ''
  return { ...textResult((text || '(empty file)') + note), whole: path }
}

const WriteInput = z.object({ file_path: z.string(), content: z.string() })

export const writeTool: SandboxTool = {
  name: 'write',
  description: 'Writes a file, in place of what was there. Folders above it are made.',
  input_schema: {
    type: 'object',
    properties: { file_path: pathSchema, content: { type: 'string' } },
    required: ['file_path', 'content'],
  },
  repeat: 'never',
  async run(sandbox, input) {
    const { file_path, content } = WriteInput.parse(input)
    const resolved = confinePath(file_path)
    if ('refused' in resolved) return resolved.refused
    const bytes = Buffer.from(content)
    const written = await sandbox.write(resolved.path, bytes)
    return written.ok
      ? textResult(`wrote ${bytes.length} bytes to ${file_path}`)
      : fileFailure(file_path, written)
  },
}

const EditInput = z.object({
  file_path: z.string(),
  old_string: z.string().min(1),
  new_string: z.string(),
  replace_all: z.boolean().optional(),
})

export const editTool: SandboxTool = {
  name: 'edit',
  description:
    'Replaces `old_string` by `new_string` in a file. It must stand there exactly once, unless `replace_all` is true.',
  input_schema: {
    type: 'object',
    properties: {
      file_path: pathSchema,
      old_string: { type: 'string', minLength: 1 },
      new_string: { type: 'string' },
      replace_all: { type: 'boolean' },
    },
    required: ['file_path', 'old_string', 'new_string'],
  },
  repeat: 'never',
  async run(sandbox, input) {
    const { file_path, old_string, new_string, replace_all } = EditInput.parse(input)
    const resolved = confinePath(file_path)
    if ('refused' in resolved) return resolved.refused
    const file = await sandbox.read(resolved.path, { offset: 0, maxBytes: largestEdit })
    if (!file.ok) return fileFailure(file_path, file)
    if (file.size > largestEdit)
      return textResult(`${file_path} is too large to edit: ${file.size} bytes`, true)
    const text = decodeUtf8(file.bytes)
    if (text === undefined) return textResult(`${file_path} is not UTF-8 text`, true)
    const occurrences = occurrencesIn(text, old_string, mostOccurrences + 1)
    const count = occurrences.length
    const wrong = mistake(count, { old_string, new_string, replace_all }, file_path)
    if (wrong) return textResult(wrong, true)
    const texts = textsFor(text, occurrences, { old_string, new_string })
    const size = file.size + grownBy(occurrences, texts, old_string)
    if (size > largestEdit)
      return textResult(`${file_path} would be too large: ${size} bytes; change it with bash`, true)
    const edited = withReplaced(text, occurrences, texts)
    const written = await writeEdited(sandbox, resolved.path, Buffer.from(edited))
    if (!written.ok) return fileFailure(file_path, written)
    return textResult(`replaced ${count} ${count === 1 ? 'place' : 'places'} in ${file_path}`)
  },
}

/** Bytes. A place is longer than `old_string` by the \r that this does not name. */
function grownBy(
  occurrences: readonly Occurrence[],
  texts: readonly string[],
  old_string: string,
): number {
  const bytes = new Map([...new Set(texts)].map((each) => [each, Buffer.byteLength(each)]))
  const size = Buffer.byteLength(old_string) - old_string.length
  return occurrences.reduce(
    (sum, { from, to }, index) => sum + (bytes.get(texts[index] ?? '') ?? 0) - (to - from + size),
    0,
  )
}

function mistake(
  count: number,
  edit: Omit<z.infer<typeof EditInput>, 'file_path'>,
  given: string,
): string | undefined {
  if (edit.old_string === edit.new_string)
    return 'old_string and new_string are the same: nothing would change'
  if (count === 0) return `old_string does not stand in ${given}`
  if (count > mostOccurrences)
    return `old_string stands more than ${mostOccurrences} times in ${given}: make it longer, or change the file with bash`
  if (count > 1 && !edit.replace_all)
    return `old_string stands ${count} times in ${given}: make it longer, or set replace_all`
  return undefined
}
