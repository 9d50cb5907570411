// Calls on files, answered by the agent, whose view of links and mounts is that of the sandbox.
import type { Connection } from './connection.ts'
import { maxDataBytes, replies, requests } from './frames.ts'
import type { Failed, FileError, FileStat, Sandbox } from './sandbox.ts'

/** The agent stops at 32 MiB of records. */
const maxWalkBytes = 33 << 20
const recordBytes = 22

const codes: readonly FileError[] = [
  ...(['io', 'not_found', 'not_a_file', 'not_a_directory', 'denied', 'too_large', 'io'] as const),
]

export function failure(payload: Buffer): Failed {
  return { ok: false, code: codes[payload[0] ?? 0] ?? 'io', message: payload.toString('utf8', 1) }
}

const badPath: Failed = { ok: false, code: 'not_found', message: 'not an absolute path' }
const isPath = (path: string) =>
  path.startsWith('/') && !path.includes('\0') && Buffer.byteLength(path) < 4096

export async function writeFile(agent: Connection, path: string, bytes: Uint8Array) {
  if (!isPath(path)) return badPath
  const id = agent.nextId()
  await agent.send(requests.write, id, [path])
  for (let at = 0; at < bytes.length; at += maxDataBytes) {
    await agent.send(requests.writeData, id, [bytes.subarray(at, at + maxDataBytes)])
  }
  const { type, payload } = await agent.ask(id, {
    ...{ type: requests.writeEnd, parts: [], expects: replies.done, size: 0, budget: 0 },
  })
  return type === replies.done ? ({ ok: true } as const) : failure(payload)
}

/** Undefined when a record says more than is there. */
function decodeFiles(batches: readonly Buffer[]): FileStat[] | undefined {
  const files: FileStat[] = []
  for (const batch of batches) {
    for (let at = 0; at < batch.length;) {
      if (batch.length - at < recordBytes) return undefined
      const end = at + recordBytes + batch.readUInt16LE(at + 20)
      if (end > batch.length) return undefined
      files.push({
        path: batch.toString('utf8', at + recordBytes, end),
        size: Number(batch.readBigUInt64LE(at)),
        mtimeMs: Number(batch.readBigInt64LE(at + 8)) / 1000,
        mode: batch.readUInt32LE(at + 16),
      })
      at = end
    }
  }
  return files
}

export function fileCalls(agent: Connection): Pick<Sandbox, 'read' | 'write' | 'walk'> {
  return {
    async read(path, { offset, maxBytes }) {
      if (!isPath(path)) return badPath
      const { type, payload, data } = await agent.ask(agent.nextId(), {
        type: requests.read,
        parts: [BigInt(offset), BigInt(maxBytes), path],
        ...{ expects: replies.done, size: 8, budget: maxBytes },
      })
      if (type === replies.failed) return failure(payload)
      return { ok: true, bytes: Buffer.concat(data), size: Number(payload.readBigUInt64LE()) }
    },
    write: (path, bytes) => writeFile(agent, path, bytes),
    async walk(root, maxEntries) {
      if (!isPath(root)) return badPath
      const { type, payload, data } = await agent.ask(agent.nextId(), {
        type: requests.walk,
        parts: [maxEntries, root],
        ...{ expects: replies.done, size: 1, budget: maxWalkBytes },
      })
      if (type === replies.failed) return failure(payload)
      const files = decodeFiles(data)
      if (files === undefined) throw agent.broken('a list of files that makes no sense')
      return { ok: true, files, complete: payload[0] === 1 }
    },
  }
}
