/** For tests: writes a server of the official library into a working folder, to be started in a sandbox. */
import { cp, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('./program-fixture.mjs', import.meta.url))
const libraries = ['@modelcontextprotocol/server', '@modelcontextprotocol/core', 'zod']

export async function writeServer(workspace: string): Promise<void> {
  for (const name of libraries) {
    const to = join(workspace, 'node_modules', name)
    await mkdir(dirname(to), { recursive: true })
    await cp(folderOf(name), to, { recursive: true })
  }
  await cp(program, join(workspace, 'program-fixture.mjs'))
}

const folderOf = (name: string): string => {
  const [before = ''] = fileURLToPath(import.meta.resolve(name)).split(`/node_modules/${name}/`)
  return join(before, 'node_modules', name)
}

/** The server as an agent declares it. */
export const declaredServer = (name: string, port: number, env: Record<string, string> = {}) => ({
  ...{ name, type: 'stdio' },
  stdio: { command: 'node', args: ['program-fixture.mjs'], env, port, ready_timeout_ms: 20_000 },
})
