/** JSON Schemas of a client's types, which a script writes, and bodies that are checked as they pass. */
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '..')

/** `script`: takes a package and the file that it writes. The files stay until the version of a package changes. */
export function typeSchemas<Schemas>(
  clients: readonly string[],
  { script: name, prefix }: { script: string; prefix: string },
) {
  const script = join(root, 'scripts', name)

  function fileOf(client: string): string {
    const manifest = readFileSync(join(root, 'node_modules', client, 'package.json'), 'utf8')
    const { version } = JSON.parse(manifest) as { version: string }
    return join(root, 'node_modules/.cache/steward', `${prefix}-${version}.json`)
  }

  return {
    read(client: string): Schemas {
      const file = fileOf(client)
      if (!existsSync(file)) execFileSync(process.execPath, [script, client, file])
      return JSON.parse(readFileSync(file, 'utf8')) as Schemas
    },
    /** Writes the missing ones before the test processes start, so that no two processes write them at the same time. */
    async writeMissing(): Promise<void> {
      const missing = clients.filter((client) => !existsSync(fileOf(client)))
      await Promise.all(
        missing.map((client) =>
          promisify(execFile)(process.execPath, [script, client, fileOf(client)]),
        ),
      )
    },
  }
}

type Check = (value: unknown) => void
type BodyChecker = TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>

export const checkedBody = (response: Response, checker: BodyChecker): Response => {
  const { status, statusText, headers } = response
  return new Response(response.body?.pipeThrough(checker) ?? null, { status, statusText, headers })
}

/** Passes a body on and checks its text at its end. */
export function wholeChecker(check: (text: string) => void): BodyChecker {
  const pieces: Uint8Array[] = []
  return new TransformStream({
    transform(piece, controller) {
      pieces.push(piece)
      controller.enqueue(piece)
    },
    flush: () => check(Buffer.concat(pieces).toString()),
  })
}

/** Checks each event of a stream as it passes. */
export function streamChecker(check: Check): BodyChecker {
  const decoder = new TextDecoder()
  let rest = ''
  return new TransformStream({
    transform(piece, controller) {
      const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (line.startsWith('data: ')) check(JSON.parse(line.slice(6)))
      controller.enqueue(piece)
    },
  })
}
