/** A tool call in one line until it is opened: then its input and its result. */
import type { ReactNode } from 'react'
import { useState } from 'react'
import { formatDuration } from '../lib/format/times.ts'
import { words } from '../lib/words.ts'
import { HiddenShown } from './hidden-shown.tsx'
import { IconDown, IconRight } from './icons.tsx'
import { Output } from './output.tsx'
import { StatusSign } from './status.tsx'

export type ToolCardProps = {
  id: string
  name: string
  /** What it is about, in one line. */
  summary: string
  /** The whole input, as it is shown when opened. */
  input: string
  result: { text: string; isError: boolean; tookMs: number } | undefined
  isRunning: boolean
  note?: ReactNode
  isChosen?: boolean
  onChoose?: () => void
  isOpenAtFirst?: boolean
}

export function ToolCard(props: ToolCardProps) {
  const { id, name, summary, input, result, isRunning, note } = props
  const { isChosen = false, onChoose, isOpenAtFirst = false } = props
  const [isOpen, setOpen] = useState(isOpenAtFirst)
  return (
    <div data-event={id} className="border-b border-n3 last:border-b-0">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => {
          setOpen(!isOpen)
          onChoose?.()
        }}
        className={`flex min-h-[30px] w-full items-center gap-2.5 px-3 text-left whitespace-nowrap outline-offset-[-2px] ${isChosen ? 'bg-accent-quiet' : 'hover:bg-n2'}`}
      >
        {isRunning ? (
          <StatusSign tone="running" />
        ) : isOpen ? (
          <IconDown className="text-n8" />
        ) : (
          <IconRight className="text-n8" />
        )}
        <span className="max-w-[40%] shrink-0 truncate text-n9">{name}</span>
        <span className="min-w-0 flex-1 truncate font-mono text-small text-n11">{summary}</span>
        {note}
        {result?.isError && <span className="text-small text-failed">{words.session.failed}</span>}
        {result && <span className="text-small text-n9">{formatDuration(result.tookMs)}</span>}
      </button>
      {isOpen && (
        <div className="border-t border-n4">
          <pre
            className="overflow-x-auto px-3 py-2 font-mono text-small leading-[1.6] whitespace-pre-wrap text-n10"
            aria-label={words.session.input}
          >
            <HiddenShown text={input} />
          </pre>
          {result && result.text !== '' && (
            <div className="border-t border-n4">
              <Output text={result.text} isError={result.isError} />
            </div>
          )}
          {!result && (
            <p className="border-t border-n4 px-3 py-2 text-small text-n9">
              {words.session.noResult}
            </p>
          )}
        </div>
      )}
    </div>
  )
}

/** Calls that follow each other, in one box. */
export const ToolCards = ({ children }: { children: ReactNode }) => (
  <div className="min-w-0 overflow-hidden rounded-panel border border-n4">{children}</div>
)
