/** The conversation: it follows its end only while the reader is there, and never moves what is being read. */
import type { ReactNode } from 'react'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { words } from '../lib/words.ts'
import { Button } from './button.tsx'

const nearEnd = 40

type TalkProps = {
  label: string
  /** How many pieces there are: those that come while the reader is elsewhere are counted. */
  count: number
  onEarlier: (() => void) | undefined
  children: ReactNode
}

export function Talk({ label, count, onEarlier, children }: TalkProps) {
  const place = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  const fromEnd = useRef(0)
  const [left, setLeft] = useState<number>()

  const toEnd = () => {
    const { current } = place
    if (current) current.scrollTop = current.scrollHeight
  }

  useEffect(() => {
    const { current } = content
    if (!current) return undefined
    const observer = new ResizeObserver(() => {
      if (isAtEnd.current) toEnd()
    })
    observer.observe(current)
    return () => observer.disconnect()
  }, [])

  // What comes above what is read must not move it.
  useLayoutEffect(() => {
    const { current } = place
    if (!current || isAtEnd.current) return
    if (fromEnd.current > 0) current.scrollTop = current.scrollHeight - fromEnd.current
    fromEnd.current = 0
  })

  const scrolled = () => {
    const { current } = place
    if (!current) return
    const isNear = current.scrollHeight - current.scrollTop - current.clientHeight < nearEnd
    if (isNear === isAtEnd.current) return
    isAtEnd.current = isNear
    setLeft(isNear ? undefined : count)
  }

  const earlier = () => {
    fromEnd.current = (place.current?.scrollHeight ?? 0) - (place.current?.scrollTop ?? 0)
    isAtEnd.current = false
    onEarlier?.()
  }

  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={place}
        onScroll={scrolled}
        role="log"
        aria-label={label}
        aria-live="off"
        tabIndex={0}
        className="relative h-full overflow-auto overscroll-contain outline-offset-[-2px]"
      >
        <div
          ref={content}
          className="mx-auto grid w-full max-w-[760px] gap-5 px-7 py-5 max-phone:px-4"
        >
          {onEarlier && (
            <div className="flex justify-center">
              <Button size="small" onClick={earlier}>
                {words.session.earlier}
              </Button>
            </div>
          )}
          {children}
        </div>
      </div>
      {left !== undefined && (
        <div className="absolute inset-x-0 bottom-3 flex justify-center">
          <span className="rounded-base shadow-float">
            <Button onClick={toEnd}>{words.session.toEnd(Math.max(0, count - left))} ↓</Button>
          </span>
        </div>
      )}
    </div>
  )
}
