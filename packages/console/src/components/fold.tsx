/** What few people need, behind a line that opens it. */
import type { ReactNode } from 'react'
import { useId, useState } from 'react'
import { IconDown, IconRight } from './icons.tsx'

/** `isOpen`: it opens by itself, as something stands in it. */
export function Fold({
  label,
  isOpen,
  children,
}: {
  label: string
  isOpen: boolean
  children: ReactNode
}) {
  const [isShown, setShown] = useState(isOpen)
  const [wasOpen, setWasOpen] = useState(isOpen)
  const id = useId()
  if (isOpen !== wasOpen) {
    setWasOpen(isOpen)
    if (isOpen) setShown(true)
  }
  return (
    <div className="grid min-w-0 content-start gap-[18px]">
      <button
        type="button"
        aria-expanded={isShown}
        aria-controls={id}
        onClick={() => setShown(!isShown)}
        className="flex h-7 w-fit items-center gap-1.5 rounded-base font-medium text-n10 hover:text-n11"
      >
        {isShown ? <IconDown className="text-n8" /> : <IconRight className="text-n8" />}
        {label}
      </button>
      <div
        id={id}
        hidden={!isShown}
        className="grid min-w-0 content-start gap-[18px] [&[hidden]]:hidden"
      >
        {isShown && children}
      </div>
    </div>
  )
}
