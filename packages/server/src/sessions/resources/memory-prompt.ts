import type { ToolHost } from '@steward/harness/prompt.ts'
import type { ResourceRow } from '../rows/resources.ts'
import { ofType } from '../rows/resources.ts'

const common =
  '# Memory stores\n\n' +
  'Each is a folder of text files that outlasts this session, and others may read and change it while you work. ' +
  'Look there for what is known before you begin.'
const written =
  'What you change where access is read_write is kept when your command has ended: UTF-8 text, at most 102,400 bytes ' +
  'in a file and 2,000 files in a store. The results of your commands say what was not kept, and where your text is ' +
  'when another changed the same file first.'
const onHost = 'Your file tools find them at these paths; commands do not.'

/** A part of the system prompt; empty without stores. The text stays the same while the stores are attached. */
export function describeStores(all: readonly ResourceRow[], toolHost: ToolHost): string {
  const rows = ofType(all, 'memory_store')
  if (rows.length === 0) return ''
  const isWritten = rows.some(({ fields }) => fields.access === 'read_write')
  const intro = [common, ...(isWritten ? [written] : []), ...(toolHost === 'host' ? [onHost] : [])]
  return [intro.join(' '), ...rows.map(about)].join('\n\n')
}

function about({ resolved_path, fields }: ResourceRow<'memory_store'>): string {
  const { access, name, description, instructions } = fields
  return [
    `## ${resolved_path}`,
    `Name: ${name}`,
    `Access: ${access}`,
    ...(description ? [`Description: ${description}`] : []),
    ...(instructions ? [`Instructions: ${instructions}`] : []),
  ].join('\n')
}
