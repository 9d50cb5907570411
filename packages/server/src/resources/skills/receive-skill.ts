/** Receives a skill as a form with files, as JSON with files, or as an archive. */
import { SkillBody, SkillFields, SkillVersionBody } from '@steward/protocol/skills.ts'
import type { z } from 'zod'
import { invalid } from '../../ground/core/errors.ts'
import { parseInput } from '../../ground/http/bodies/body.ts'
import type { FormPart } from '../../ground/http/bodies/form.ts'
import { isForm, readForm } from '../../ground/http/bodies/form.ts'
import type { RawRequest } from '../../ground/http/route.ts'
import type { Bundle, BundleFile } from './bundle.ts'
import { buildBundle, bundleTooLarge, largestBundle, mostFiles } from './bundle.ts'
import { isZip, readZip } from './zip.ts'

export type ReceivedSkill = { fields: SkillFields; bundle: Bundle }

/** Largest part of a form besides its files. */
const aroundFiles = 1024 * 1024

/** Text fields and files of any name, as a form or as JSON. */
export async function receiveSkill(raw: RawRequest): Promise<ReceivedSkill> {
  const { contentType } = opened(raw)
  if (!isForm(contentType)) {
    const { files, ...fields } = parseInput(SkillBody, await raw.json())
    return { fields, bundle: await buildBundle(textFiles(files), fields.description ?? undefined) }
  }
  const { fields, files } = await receiveForm(raw, undefined)
  const parsed = parseInput(SkillFields, fields)
  return {
    fields: parsed,
    bundle: await buildBundle(await unpacked(files), parsed.description ?? undefined),
  }
}

/** Text fields and an archive in the field `file`. */
export async function receiveArchive(raw: RawRequest): Promise<ReceivedSkill> {
  const { fields, files } = await receiveForm(raw, 'file')
  const parsed = parseInput(SkillFields, fields)
  const [archive] = files
  if (!archive) throw invalid('file: is required, a zip archive')
  if (!isZip(archive.bytes)) throw invalid('file: is no zip archive')
  const unzipped = await unpacked([archive])
  return { fields: parsed, bundle: await buildBundle(unzipped, parsed.description ?? undefined) }
}

/** Files only; all other properties of the skill stay. */
export async function receiveVersion(raw: RawRequest): Promise<Bundle> {
  const { fields, bundle } = await receiveFiles(raw)
  const [unknown] = Object.keys(fields)
  if (unknown !== undefined) throw invalid(`${unknown}: unknown field`)
  return bundle
}

/** `fields`: what comes beside the files, for the caller to check. */
export async function receiveFiles(
  raw: RawRequest,
): Promise<{ fields: Record<string, string>; bundle: Bundle }> {
  const { contentType } = opened(raw)
  if (!isForm(contentType)) {
    const { files } = parseInput(SkillVersionBody, await raw.json())
    return { fields: {}, bundle: await buildBundle(textFiles(files)) }
  }
  const { fields, files } = await receiveForm(raw, undefined)
  return { fields, bundle: await buildBundle(await unpacked(files)) }
}

function opened({ headers, body }: RawRequest) {
  const header = (name: string) => headers.find(([each]) => each.toLowerCase() === name)?.[1] ?? ''
  const length = Number(header('content-length'))
  if (length > largestBundle + aroundFiles) throw bundleTooLarge()
  return { contentType: header('content-type'), body }
}

async function receiveForm(raw: RawRequest, named: string | undefined) {
  let total = 0
  async function keep({ filename, body }: FormPart): Promise<BundleFile> {
    const chunks: Buffer[] = []
    for await (const chunk of body) {
      total += chunk.byteLength
      if (total > largestBundle) throw bundleTooLarge()
      // The chunk is reused by the parser, so it is copied.
      chunks.push(Buffer.from(chunk))
    }
    return { path: filename, bytes: Buffer.concat(chunks), executable: false }
  }
  const most = named === undefined ? mostFiles : 1
  const { fields, taken } = await readForm(opened(raw), keep, { named, most })
  return { fields, files: taken }
}

/** A single archive stands for its contents. */
async function unpacked(files: BundleFile[]): Promise<BundleFile[]> {
  const [only] = files
  if (files.length !== 1 || !only || !isZip(only.bytes)) return files
  return readZip(Buffer.from(only.bytes))
}

const textFiles = (files: z.infer<typeof SkillVersionBody>['files']): BundleFile[] =>
  files.map(({ filename, content }) => ({
    path: filename,
    bytes: Buffer.from(content),
    executable: false,
  }))
