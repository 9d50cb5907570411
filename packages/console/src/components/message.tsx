/** What a person or an agent said. */
import type { ReactNode } from 'react'
import { lazy, Suspense } from 'react'
import { Time } from './figures.tsx'
import { IconRight } from './icons.tsx'
import { StatusSign } from './status.tsx'

const AgentText = lazy(async () => ({ default: (await import('./markdown.tsx')).AgentText }))
const LiveText = lazy(async () => ({ default: (await import('./markdown.tsx')).LiveText }))

type MessageProps = {
  id: string
  by: 'person' | 'agent' | 'system'
  name: string
  at?: string
  text: string
  beside?: ReactNode
  isChosen?: boolean
  /** It is still being written. */
  isLive?: boolean
  onChoose?: () => void
  /** Stands below the text. */
  foot?: ReactNode
}

export const Message = (props: MessageProps) => {
  const { id, by, name, at, text, beside, isChosen, isLive, onChoose, foot } = props
  return (
    <article
      data-event={id}
      className={`min-w-0 text-read leading-[1.55] text-n11 ${by === 'agent' ? '' : 'rounded-panel border border-n4 bg-n2 px-3.5 py-2.5'} ${markOf(isChosen)}`}
    >
      <header className="mb-0.5 flex gap-2 text-small text-n9">
        <button type="button" onClick={onChoose} className="rounded-sm hover:text-n11">
          {name}
        </button>
        {at !== undefined && <Time at={at} form="clock" />}
        {beside}
      </header>
      {by === 'agent' ? (
        <Suspense fallback={<Plain text={text} />}>
          {isLive ? <LiveText text={text} /> : <AgentText text={text} />}
        </Suspense>
      ) : (
        <Plain text={text} />
      )}
      {foot}
    </article>
  )
}

const Plain = ({ text }: { text: string }) => (
  <p className="whitespace-pre-wrap" dir="auto">
    {text}
  </p>
)

/** How the piece of a chosen event is marked. */
const markOf = (isChosen: boolean | undefined): string =>
  isChosen ? 'rounded-sm outline-2 outline-offset-4 outline-accent' : ''

type PieceMark = { id?: string; isChosen?: boolean; onChoose?: (() => void) | undefined }

/** Folded: most people want to know what was done. */
export const Thought = ({
  title,
  text,
  beside,
  id,
  isChosen,
  onChoose,
}: PieceMark & { title: string; text: string; beside?: ReactNode }) => (
  <details data-event={id} className={`group min-w-0 text-n9 ${markOf(isChosen)}`}>
    <summary
      onClick={onChoose}
      className="flex w-fit max-w-full items-center gap-2 rounded-sm text-small select-none hover:text-n11"
    >
      <IconRight className="group-open:rotate-90" />
      <span className="min-w-0 text-left">{title}</span>
      {beside}
    </summary>
    <p className="mt-1 ml-[7px] border-l-2 border-n5 pl-3.5 whitespace-pre-wrap" dir="auto">
      {text}
    </p>
  </details>
)

/** Something that happened between messages, in one line. */
export const Note = ({
  children,
  isFailure = false,
  id,
  isChosen,
  onChoose,
}: PieceMark & { children: ReactNode; isFailure?: boolean }) => (
  <p
    data-event={id}
    className={`flex items-center gap-3 text-small before:h-px before:min-w-4 before:flex-1 before:bg-n5 after:h-px after:min-w-4 after:flex-1 after:bg-n5 ${isFailure ? 'text-failed' : 'text-n9'} ${markOf(isChosen)}`}
  >
    {onChoose ? (
      <button
        type="button"
        onClick={onChoose}
        className="min-w-0 rounded-sm text-center text-balance hover:text-n11"
      >
        {children}
      </button>
    ) : (
      <span className="text-center text-balance">{children}</span>
    )}
  </p>
)

/** What has ended a turn or the session: it stands out, and says which of the two it was. */
export const FailureNote = ({
  title,
  at,
  id,
  isChosen,
  onChoose,
  children,
}: PieceMark & { title: string; at: string; children: ReactNode }) => (
  <section
    data-event={id}
    className={`min-w-0 rounded-panel border border-failed bg-failed-quiet px-3.5 py-2.5 ${markOf(isChosen)}`}
  >
    <header className="flex items-center gap-2">
      <StatusSign tone="failed" />
      <button
        type="button"
        onClick={onChoose}
        className="min-w-0 truncate rounded-sm font-semibold text-n11"
      >
        {title}
      </button>
      <span className="ml-auto text-small text-n9">
        <Time at={at} form="clock" />
      </span>
    </header>
    <p className="mt-1 whitespace-pre-wrap text-n11" dir="auto">
      {children}
    </p>
  </section>
)
