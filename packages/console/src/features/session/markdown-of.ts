/** A conversation as Markdown, to paste it elsewhere. */
import type { SessionEvent } from '../../lib/api/types.ts'
import { talkWords } from '../../lib/session/talk-words.ts'
import { words } from '../../lib/words.ts'
import { talkOf } from './conversation.ts'
import type { ToolCall } from './conversation.ts'
import { inputText } from './texts.ts'

/** A fence that is longer than every run of backticks in the text. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${text.replace(/\n$/, '')}\n${fence}`
}

const callText = ({ name, input, result }: ToolCall): string =>
  [
    `**${name}**`,
    fenced(inputText(input)),
    ...(result ? [result.isError ? `${words.session.failed}:` : '', fenced(result.text)] : []),
  ]
    .filter((part) => part !== '')
    .join('\n\n')

export function markdownOf(title: string, events: readonly SessionEvent[]): string {
  const names = {
    person: words.session.you,
    agent: words.session.agent,
    system: words.session.system,
  }
  const parts = talkOf(events).map((item) => {
    switch (item.kind) {
      case 'said':
        return `### ${names[item.by]}\n\n${item.text}`
      case 'tools':
        return item.calls.map(callText).join('\n\n')
      case 'thought':
      case 'told':
        return item.text.replaceAll(/^/gm, '> ')
      case 'failed':
      case 'noted':
        return `_${item.text}_`
      case 'compacted':
        return `_${talkWords.compaction.title}_`
      case 'other':
        return `_${item.type} ${item.text}_`
    }
  })
  return `# ${title}\n\n${parts.join('\n\n')}\n`
}
