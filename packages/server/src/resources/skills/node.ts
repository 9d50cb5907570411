/** Programs of built-in skills need Node, which an image of the tenant's choice may lack. */
import { newId } from '../../ground/core/text/ids.ts'
import type { NewEvent } from '@steward/protocol/events.ts'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'

const oldest = 20
const script = 'command -v node >/dev/null && node -p process.versions.node'
const timeoutMs = 10_000

/** The warning about these skills in this sandbox; undefined when there is none. */
export async function withoutNode(
  sandbox: Sandbox,
  names: readonly string[],
): Promise<string | undefined> {
  if (names.length === 0) return undefined
  const { output } = await sandbox.aside({ script, arguments: [], timeoutMs })
  const major = Number.parseInt(output, 10)
  if (major >= oldest) return undefined
  const has = Number.isNaN(major) ? 'there is no Node' : `Node is ${output.trim()}`
  return `the programs of the skills ${names.join(', ')} need Node ${oldest} or later, and in the image of this sandbox ${has}`
}

export const needsNode = (message: string): NewEvent => ({
  id: newId('event'),
  type: 'session.warning',
  reason: 'skill_needs_node',
  message,
})
