/** The conversation: it follows its end only while the reader is there, and never moves what is being read. */
import type { ReactNode } from 'react'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { talkWords } from '../lib/session/talk-words.ts'
import { words } from '../lib/words.ts'
import { Button } from './button.tsx'

const nearEnd = 40
/** So far before its end, a part far back is read on. */
const nearLater = 600

type TalkProps = {
  label: string
  /** How many pieces there are: those that come while the reader is elsewhere are counted. */
  count: number
  /** The event whose piece is brought into view. */
  shown?: string | undefined
  onEarlier: (() => void) | undefined
  /** Of a part that ends before the newest pieces. */
  later?: { newer: number; onMore: () => void; onNewest: () => void } | undefined
  children: ReactNode
}

export function Talk({ label, count, shown, onEarlier, later, children }: TalkProps) {
  const place = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  const fromEnd = useRef(0)
  /** The piece that was brought into view stays there until the reader moves: texts above it may still grow. */
  const held = useRef<Element>(undefined)
  const [left, setLeft] = useState<number>()

  const toEnd = () => {
    const { current } = place
    held.current = undefined
    if (current) current.scrollTop = current.scrollHeight
  }
  const isFar = later !== undefined
  useFollowed(content, () => {
    if (held.current?.isConnected) held.current.scrollIntoView({ block: 'center' })
    else if (isAtEnd.current && !isFar) toEnd()
  })

  // What comes above what is read must not move it.
  useLayoutEffect(() => {
    const { current } = place
    if (!current || isAtEnd.current) return
    if (fromEnd.current > 0) current.scrollTop = current.scrollHeight - fromEnd.current
    fromEnd.current = 0
  })

  useLayoutEffect(() => {
    const piece = shown === undefined ? undefined : pieceIn(content.current, shown)
    if (!piece || isInView(place.current, piece)) return
    held.current = piece
    isAtEnd.current = false
    piece.scrollIntoView({ block: 'center' })
  }, [shown, isFar])

  const scrolled = () => {
    const { current } = place
    if (!current) return
    const below = current.scrollHeight - current.scrollTop - current.clientHeight
    if (later && below < nearLater && !held.current) later.onMore()
    const isNear = below < nearEnd && !later
    if (isNear === isAtEnd.current) return
    isAtEnd.current = isNear
    setLeft(isNear ? undefined : count)
  }

  const earlier = () => {
    held.current = undefined
    fromEnd.current = (place.current?.scrollHeight ?? 0) - (place.current?.scrollTop ?? 0)
    isAtEnd.current = false
    onEarlier?.()
  }
  const leaveFar = () => {
    held.current = undefined
    isAtEnd.current = true
    setLeft(undefined)
    later?.onNewest()
  }
  const release = () => {
    held.current = undefined
  }

  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={place}
        onScroll={scrolled}
        onWheel={release}
        onPointerDown={release}
        onKeyDown={release}
        role="log"
        aria-label={label}
        aria-live="off"
        tabIndex={0}
        className="relative h-full overflow-auto overscroll-contain outline-offset-[-2px]"
      >
        <div
          ref={content}
          className="mx-auto grid w-full max-w-[760px] grid-cols-[minmax(0,1fr)] gap-5 px-7 py-5 max-phone:px-4"
        >
          {onEarlier && <MoreLine onClick={earlier}>{words.session.earlier}</MoreLine>}
          {children}
          {later && <MoreLine onClick={later.onMore}>{talkWords.later}</MoreLine>}
        </div>
      </div>
      {(left !== undefined || later) && (
        <div className="pointer-events-none absolute inset-x-0 bottom-3 flex justify-center">
          <span className="pointer-events-auto rounded-base shadow-float">
            <Button onClick={later ? leaveFar : toEnd}>
              {words.session.toEnd(later?.newer ?? Math.max(0, count - (left ?? count)))} ↓
            </Button>
          </span>
        </div>
      )}
    </div>
  )
}

const MoreLine = ({ onClick, children }: { onClick: () => void; children: ReactNode }) => (
  <div className="flex justify-center">
    <Button size="small" onClick={onClick}>
      {children}
    </Button>
  </div>
)

/** Tells when the size of the content changes. */
function useFollowed(content: { current: Element | null }, tell: () => void): void {
  const newest = useRef(tell)
  useLayoutEffect(() => {
    newest.current = tell
  })
  useEffect(() => {
    const { current } = content
    if (!current) return undefined
    const observer = new ResizeObserver(() => newest.current())
    observer.observe(current)
    return () => observer.disconnect()
  }, [content])
}

const pieceIn = (content: Element | null, event: string): Element | undefined =>
  content?.querySelector(`[data-event="${CSS.escape(event)}"]`) ?? undefined

/** Whether some of it is on the screen, so that a click on it moves nothing. */
function isInView(place: Element | null, piece: Element): boolean {
  if (!place) return true
  const { top, bottom } = place.getBoundingClientRect()
  const own = piece.getBoundingClientRect()
  return own.top < bottom - nearEnd && own.bottom > top + nearEnd
}
