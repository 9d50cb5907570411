/** Publishes the session's output files from inside its sandbox, after the call that wrote them. [worker/outputs] */
import { createHash } from 'node:crypto'
import { APIError } from '@anthropic-ai/sdk'
import { OutputHashes, outputName, OutputTaken } from '@steward/protocol/outputs.ts'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'
import { outputsPath } from '@steward/sandbox/sandbox.ts'
import { outputsBelowWorkspace } from '@steward/space/working-folder/outputs.ts'
import { z } from 'zod'
import type { MountInput, InputTarget } from './input.ts'

const mostEntries = 10_000
const mostTold = 10
const maxBytes = 256 * 1024

export const mountOutputs: MountInput = async ({ client, session }) => {
  const path = `/v1/ext/outputs/${session.id}`
  const { largest, published, folder } = OutputHashes.parse(await client.get(path))
  if (!published) return {}
  const root = folder ?? outputsPath
  const hashes = new Map(published.map(({ filename, sha256 }) => [filename, sha256]))
  const stamps = new Map<string, string>()
  const told = new Set<string>()

  async function publish(sandbox: Sandbox): Promise<readonly string[]> {
    const walked = await sandbox.walk(root, mostEntries, true)
    if (!walked.ok) return []
    const left: string[] = []
    for (const { path: at, size, changedUs, inode } of walked.files) {
      const stamp = `${size} ${changedUs} ${inode}`
      if (stamps.get(at) === stamp) continue
      const name = outputName(at.slice(root.length + 1).split('/'))
      const why =
        size > largest ? `it is larger than ${largest} bytes` : await send(name, at, sandbox)
      if (why !== undefined) left.push(`${at}: ${why}`)
      // Later writes could get the same stamp.
      if (changedUs < walked.startedUs) stamps.set(at, stamp)
    }
    const unsaid = left.filter((line) => !told.has(line))
    for (const line of unsaid) told.add(line)
    if (unsaid.length === 0) return []
    const more = unsaid.length > mostTold ? `; and ${unsaid.length - mostTold} others` : ''
    return [`not published: ${unsaid.slice(0, mostTold).join('; ')}${more}`]
  }

  /** Returns why the file was not published, or undefined. */
  async function send(name: string, at: string, sandbox: Sandbox): Promise<string | undefined> {
    const { ok } = await sandbox.read(at, { offset: 0, maxBytes: 1 })
    if (!ok && at.includes('\ufffd')) return 'its name is not UTF-8'
    const last = hashes.get(name)
    if (last !== undefined && (await hashOf(bytesOf(at, sandbox))) === last) return undefined
    try {
      const to = `${path}/${encodeURIComponent(name)}`
      const { sha256 } = OutputTaken.parse(await sent(client, to, bytesOf(at, sandbox)))
      hashes.set(name, sha256)
      return undefined
    } catch (error) {
      if (error instanceof APIError) return messageOf(error)
      throw error
    }
  }

  /** Ends when the file disappears, and when a growing file exceeds the service's limit. */
  async function* bytesOf(at: string, sandbox: Sandbox): AsyncGenerator<Uint8Array> {
    for (let offset = 0; offset <= largest;) {
      const read = await sandbox.read(at, { offset, maxBytes })
      if (!read.ok || read.bytes.length === 0) return
      offset += read.bytes.length
      yield read.bytes
    }
  }

  return {
    ...(folder && outputsBelowWorkspace(folder)),
    changed: publish,
    rested: async (sandbox) => void (await publish(sandbox)),
  }
}

const sent = (client: InputTarget['client'], path: string, body: AsyncIterable<Uint8Array>) =>
  client.post(path, {
    body,
    maxRetries: 0,
    headers: { 'content-type': 'application/octet-stream' },
  })

const Refusal = z.object({ error: z.object({ message: z.string() }) })

function messageOf({ error, message }: APIError): string {
  const refusal = Refusal.safeParse(error)
  return refusal.success ? refusal.data.error.message : message
}

async function hashOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of bytes) hash.update(piece)
  return hash.digest('hex')
}
