import { diffOf } from '../lib/diff.ts'
import type { DiffLine } from '../lib/diff.ts'
import { words } from '../lib/words.ts'

const looks = {
  same: ['', ''],
  removed: ['bg-failed-quiet', 'text-failed'],
  added: ['bg-good-quiet', 'text-good'],
} as const
const signs = { same: ' ', removed: '−', added: '+' }

/** What changed between two texts, line by line, a sign before each. */
export function Diff({ title, before, after }: { title: string; before: string; after: string }) {
  const { lines, added, removed } = diffOf(before, after)
  return (
    <div className="min-w-0 overflow-hidden rounded-panel border border-n4">
      <div className="flex h-[30px] items-center gap-2 border-b border-n4 px-3 text-n9">
        <span className="min-w-0 flex-1 truncate font-mono text-small">{title}</span>
        <span className="text-small text-good">+{added}</span>
        <span className="text-small text-failed">−{removed}</span>
      </div>
      {lines.length === 0 ? (
        <p className="px-3 py-2 text-n9">{words.noDifference}</p>
      ) : (
        <div
          role="region"
          aria-label={title}
          tabIndex={0}
          className="max-h-[60vh] overflow-auto bg-n2 py-1 font-mono text-small leading-[1.6] outline-offset-[-2px]"
        >
          {lines.map((line, at) => (
            <DiffRow key={at} line={line} />
          ))}
        </div>
      )}
    </div>
  )
}

function DiffRow({ line }: { line: DiffLine }) {
  if (line.kind === 'gap') return <div className="my-1 border-t border-dashed border-n6" />
  const [back, colour] = looks[line.kind]
  return (
    <div
      className={`grid w-max min-w-full grid-cols-[36px_36px_18px_auto] pr-3 whitespace-pre ${back}`}
    >
      <span className="pr-2 text-right text-n9 select-none">
        {'before' in line ? line.before : ''}
      </span>
      <span className="pr-2 text-right text-n9 select-none">
        {'after' in line ? line.after : ''}
      </span>
      <span className={`select-none ${colour}`}>{signs[line.kind]}</span>
      <span className="text-n11">{line.text}</span>
    </div>
  )
}
