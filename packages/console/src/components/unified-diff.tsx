/** A diff of a file as programs write it, with a sign before each line and a colour behind it. */
import { words } from '../lib/words.ts'

type UnifiedDiffProps = {
  title: string
  /** Undefined: the lines were not compared, for the reason. */
  diff: string | undefined
  reason?: string | undefined
  added: number | undefined
  removed: number | undefined
  isOpen?: boolean
}

const looks: Record<string, string> = {
  '+': 'bg-good-quiet text-n11',
  '-': 'bg-failed-quiet text-n11',
  '@': 'text-n8',
}
const mostLines = 2_000

export function UnifiedDiff(props: UnifiedDiffProps) {
  const { title, diff, reason, added, removed, isOpen = false } = props
  const lines = (diff ?? '').split('\n').filter((line) => !/^(?:---|\+\+\+|diff|index) /.test(line))
  const shown = lines.slice(0, mostLines)
  return (
    <details open={isOpen} className="min-w-0 overflow-hidden rounded-panel border border-n4">
      <summary className="flex min-h-[30px] items-center gap-2 px-3 outline-offset-[-2px] hover:bg-n2">
        <span className="min-w-0 flex-1 truncate font-mono text-small text-n11" title={title}>
          {title}
        </span>
        {added !== undefined && <span className="text-small text-good">+{added}</span>}
        {removed !== undefined && <span className="text-small text-failed">−{removed}</span>}
      </summary>
      {diff === undefined ? (
        <p className="border-t border-n4 px-3 py-2 text-small text-n9">{reason}</p>
      ) : (
        <pre
          tabIndex={0}
          aria-label={title}
          className="max-h-[60vh] overflow-auto border-t border-n4 bg-n2 py-1 font-mono text-small leading-[1.6] outline-offset-[-2px]"
        >
          {shown.map((line, at) => (
            <span key={at} className={`block w-max min-w-full px-3 ${looks[line[0] ?? ''] ?? ''}`}>
              {line === '' ? ' ' : line}
            </span>
          ))}
          {lines.length > shown.length &&
            words.session.linesBetween(String(lines.length - shown.length))}
        </pre>
      )}
    </details>
  )
}
