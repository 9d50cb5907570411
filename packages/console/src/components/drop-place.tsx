/** A part of a page that takes files: dropped on it, or chosen by its button. */
import type { ChangeEvent, DragEvent, ReactNode } from 'react'
import { useRef, useState } from 'react'
import { Button } from './button.tsx'

type DropPlaceProps = {
  /** What stands over the page while files are held above it. */
  hint: string
  /** Why it takes none. */
  offBecause: string | undefined
  onFiles: (files: readonly File[]) => void
  children: ReactNode
}

const hasFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer.types.includes('Files')

export function DropPlace({ hint, offBecause, onFiles, children }: DropPlaceProps) {
  const [isOver, setOver] = useState(false)
  return (
    <div
      className="relative flex min-h-0 flex-1 flex-col"
      onDragOver={(event) => {
        if (!hasFiles(event)) return
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={({ currentTarget, relatedTarget }) => {
        if (!(relatedTarget instanceof Node) || !currentTarget.contains(relatedTarget))
          setOver(false)
      }}
      onDrop={(event) => {
        if (!hasFiles(event)) return
        event.preventDefault()
        setOver(false)
        if (offBecause === undefined) onFiles([...event.dataTransfer.files])
      }}
    >
      {children}
      {isOver && (
        <div className="pointer-events-none absolute inset-2 z-10 grid place-items-center rounded-panel border-2 border-dashed border-accent bg-accent-quiet font-medium text-n11">
          {offBecause ?? hint}
        </div>
      )}
    </div>
  )
}

type FilesButtonProps = Pick<DropPlaceProps, 'offBecause' | 'onFiles' | 'children'>

export function FilesButton({ offBecause, onFiles, children }: FilesButtonProps) {
  const input = useRef<HTMLInputElement>(null)
  const choose = ({ target }: ChangeEvent<HTMLInputElement>) => {
    onFiles([...(target.files ?? [])])
    // The same file can be chosen again.
    target.value = ''
  }
  return (
    <>
      <Button kind="primary" offBecause={offBecause} onClick={() => input.current?.click()}>
        {children}
      </Button>
      <input ref={input} type="file" multiple hidden onChange={choose} />
    </>
  )
}
