/** A tool call in one line until it is opened: then its input and its result. */
import type { ReactNode } from 'react'
import { memo } from 'react'
import { diffOf } from '../lib/diff.ts'
import { formatDuration } from '../lib/format/times.ts'
import { talkWords } from '../lib/session/talk-words.ts'
import { words } from '../lib/words.ts'
import { Diff } from './diff.tsx'
import { HiddenShown } from './hidden-shown.tsx'
import { IconDown, IconRight } from './icons.tsx'
import { LoggedImage } from './image-view.tsx'
import { Elapsed, LiveOutput } from './live-output.tsx'
import { Output } from './output.tsx'
import { StatusSign } from './status.tsx'

export type ToolCardProps = {
  id: string
  name: string
  /** What it is about, in one line. */
  summary: string
  /** The whole input, as it is shown when opened. */
  input: string
  /** What an edit changes, shown in place of the input. */
  change?: { title: string; before: string; after: string } | undefined
  result:
    | {
        text: string
        isError: boolean
        tookMs: number
        exitCode?: number | undefined
        images?: readonly { format: string; data: string }[]
      }
    | undefined
  /** Since when it runs, in ms since 1970; undefined while it does not. */
  runningFrom?: number | undefined
  /** What its command has written so far. */
  output?: { text: string; lastByteAt: number } | undefined
  note?: ReactNode
  isChosen?: boolean
  isOpen: boolean
  onOpen: (isOpen: boolean) => void
}

export function ToolCard(props: ToolCardProps) {
  const { id, isOpen, runningFrom } = props
  const output = runningFrom === undefined ? undefined : props.output
  return (
    <div data-event={id} className="border-b border-n3 last:border-b-0">
      <CardLine {...props} output={output} />
      {isOpen && <CardContents {...props} output={output} />}
      {output && output.text !== '' && <LiveOutput text={output.text} isLarge={isOpen} />}
    </div>
  )
}

function CardLine(props: ToolCardProps) {
  const { name, summary, change, result, runningFrom, output, note } = props
  const { isChosen = false, isOpen, onOpen } = props
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      onClick={() => onOpen(!isOpen)}
      className={`flex min-h-[30px] w-full items-center gap-2.5 px-3 text-left whitespace-nowrap outline-offset-[-2px] max-phone:flex-wrap max-phone:content-center max-phone:gap-y-0 max-phone:py-1 ${isChosen ? 'bg-accent-quiet' : 'hover:bg-n2'}`}
    >
      {runningFrom !== undefined ? (
        <StatusSign tone="running" />
      ) : isOpen ? (
        <IconDown className="text-n8" />
      ) : (
        <IconRight className="text-n8" />
      )}
      <span className="max-w-[40%] shrink-0 truncate text-n9">{name}</span>
      <span className="min-w-0 flex-1 truncate font-mono text-small text-n11">{summary}</span>
      <span className="max-w-[45%] min-w-0 truncate empty:hidden max-phone:order-last max-phone:max-w-none max-phone:basis-full max-phone:pl-6 max-phone:whitespace-normal">
        {note}
      </span>
      {change && <ChangeCount {...change} />}
      {result && hasFailed(result) && (
        <span className="text-small text-failed">{failureOf(result)}</span>
      )}
      {result && <span className="text-small text-n9">{formatDuration(result.tookMs)}</span>}
      {runningFrom !== undefined && <Elapsed from={runningFrom} lastByteAt={output?.lastByteAt} />}
    </button>
  )
}

/** The input of a call, or what it changes, and its result. */
function CardContents({ input, change, result, output }: ToolCardProps) {
  return (
    <div className="border-t border-n4">
      {change && (
        <div className="p-2">
          <Diff {...change} />
        </div>
      )}
      <pre
        hidden={change !== undefined}
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
      {result?.images?.map(({ format, data }, at) => (
        <div key={at} className="border-t border-n4">
          <LoggedImage format={format} data={data} name={words.session.picture} />
        </div>
      ))}
      {!result && !output?.text && (
        <p className="border-t border-n4 px-3 py-2 text-small text-n9">{words.session.noResult}</p>
      )}
    </div>
  )
}

type ShownResult = NonNullable<ToolCardProps['result']>

const hasFailed = ({ isError, exitCode = 0 }: ShownResult): boolean => isError || exitCode !== 0

const failureOf = ({ exitCode = 0 }: ShownResult): string =>
  exitCode === 0 ? words.session.failed : words.session.exited(exitCode)

/** Calls that follow each other, in one box. */
export const ToolCards = ({ children }: { children: ReactNode }) => (
  <div className="min-w-0 overflow-hidden rounded-panel border border-n4">{children}</div>
)

const ChangeCount = memo(function ChangeCount(change: { before: string; after: string }) {
  const { added, removed } = diffOf(change.before, change.after)
  return (
    <span className="text-small">
      <span className="text-good">+{added}</span> <span className="text-failed">−{removed}</span>
    </span>
  )
})

/** Calls of one tool that follow each other: one line, until somebody wants to see each of them. */
export const ToolRun = ({
  name,
  count,
  summary,
  failed,
  tookMs,
  isOpen,
  onOpen,
  children,
}: {
  name: string
  count: number
  summary: string
  failed: number
  tookMs: number
  isOpen: boolean
  onOpen: (isOpen: boolean) => void
  children: ReactNode
}) => (
  <div className="border-b border-n3 last:border-b-0">
    <button
      type="button"
      aria-expanded={isOpen}
      onClick={() => onOpen(!isOpen)}
      className="flex min-h-[30px] w-full items-center gap-2.5 px-3 text-left whitespace-nowrap outline-offset-[-2px] hover:bg-n2"
    >
      {isOpen ? <IconDown className="text-n8" /> : <IconRight className="text-n8" />}
      <span className="max-w-[40%] shrink-0 truncate text-n9">
        {name} × {count}
      </span>
      <span className="min-w-0 flex-1 truncate font-mono text-small text-n11">{summary}</span>
      {failed > 0 && <span className="text-small text-failed">{talkWords.failedOf(failed)}</span>}
      <span className="text-small text-n9">{formatDuration(tookMs)}</span>
    </button>
    {isOpen && <div className="border-t border-n3 bg-n1 pl-4">{children}</div>}
  </div>
)
