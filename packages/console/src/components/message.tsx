/** What a person or an agent said. */
import type { ReactNode } from 'react'
import { lazy, Suspense } from 'react'
import { Time } from './figures.tsx'

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
      className={`min-w-0 text-read leading-[1.55] text-n11 ${by === 'agent' ? '' : 'rounded-panel border border-n4 bg-n2 px-3.5 py-2.5'} ${isChosen ? 'outline-2 outline-offset-4 outline-accent-quiet' : ''}`}
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

/** Folded: most people want to know what was done. */
export const Thought = ({ title, text }: { title: string; text: string }) => (
  <details className="group min-w-0 text-n9">
    <summary className="w-fit rounded-sm text-small select-none hover:text-n11">{title}</summary>
    <p className="mt-1 border-l-2 border-n5 pl-3 whitespace-pre-wrap" dir="auto">
      {text}
    </p>
  </details>
)

/** Something that happened between messages, in one line. */
export const Note = ({
  children,
  isFailure = false,
}: {
  children: ReactNode
  isFailure?: boolean
}) => (
  <p
    className={`flex items-center gap-3 text-small before:h-px before:min-w-4 before:flex-1 before:bg-n5 after:h-px after:min-w-4 after:flex-1 after:bg-n5 ${isFailure ? 'text-failed' : 'text-n9'}`}
  >
    <span className="text-center text-balance">{children}</span>
  </p>
)
