/** Where a person writes to the agent, and gives it files. The draft stays until the service has taken it. */
import type { KeyboardEvent } from 'react'
import { useRef, useState } from 'react'
import { words } from '../lib/words.ts'
import { Button } from './button.tsx'
import { IconAttach, IconClose } from './icons.tsx'

type ComposerAttachment = {
  key: number
  name: string
  /** How much of it is there, 0 to 1. */
  share: number
  problem?: string | undefined
}

type ComposerProps = {
  value: string
  onChange: (text: string) => void
  onSend: () => void
  isSending: boolean
  attachments?: readonly ComposerAttachment[]
  onAttach?: (files: readonly File[]) => void
  onDetach?: (key: number) => void
  problem?: string | undefined
  offBecause?: string | undefined
  /** Why it cannot be sent now, although it can be written. */
  waitsFor?: string | undefined
}

export function Composer(props: ComposerProps) {
  const { value, onChange, onSend, isSending, problem, offBecause, waitsFor } = props
  const { attachments = [], onAttach, onDetach } = props
  const [isOver, setOver] = useState(false)
  const isEmpty = value.trim() === '' && attachments.length === 0
  const attach = (files: FileList | null) => {
    if (files && files.length > 0 && offBecause === undefined) onAttach?.([...files])
  }
  const press = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    // The enter that ends the input of a character is not for us.
    if (event.nativeEvent.isComposing || event.key !== 'Enter') return
    if (!event.metaKey && !event.ctrlKey) return
    event.preventDefault()
    if (event.repeat || isSending) return
    if (!isEmpty && offBecause === undefined && waitsFor === undefined) onSend()
  }
  return (
    <div
      className="shrink-0 border-t px-7 py-3 max-phone:px-3"
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        attach(event.dataTransfer.files)
      }}
    >
      <div
        className={`mx-auto grid max-w-[704px] gap-1 rounded-panel border bg-n1 p-2.5 focus-within:outline-2 focus-within:outline-accent ${isOver && onAttach ? 'border-accent bg-accent-quiet' : 'border-n6'}`}
      >
        {attachments.length > 0 && (
          <ul aria-label={words.session.attachments} className="flex flex-wrap gap-1.5 pb-1">
            {attachments.map((each) => (
              <AttachmentChip key={each.key} attachment={each} onDetach={onDetach} />
            ))}
          </ul>
        )}
        <textarea
          value={value}
          rows={Math.min(8, Math.max(1, value.split('\n').length))}
          placeholder={offBecause ?? `${words.session.write}…`}
          aria-label={words.session.write}
          disabled={offBecause !== undefined}
          onChange={({ target }) => onChange(target.value)}
          onPaste={({ clipboardData }) => attach(clipboardData.files)}
          onKeyDown={press}
          className="w-full resize-none bg-transparent text-read text-n11 outline-none disabled:cursor-not-allowed"
        />
        <div className="flex items-center gap-2">
          {onAttach && <AttachButton offBecause={offBecause} onFiles={attach} />}
          <span className="min-w-0 flex-1 text-small text-failed" role="alert">
            {problem}
          </span>
          <Button
            size="small"
            kind={isEmpty ? 'normal' : 'primary'}
            keys={words.session.sendKeys}
            isBusy={isSending}
            offBecause={offBecause ?? waitsFor ?? (isEmpty ? words.session.write : undefined)}
            onClick={onSend}
          >
            {isSending ? words.session.sending : words.session.send}
          </Button>
        </div>
      </div>
    </div>
  )
}

function AttachButton({
  offBecause,
  onFiles,
}: {
  offBecause: string | undefined
  onFiles: (files: FileList | null) => void
}) {
  const chooser = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={chooser}
        type="file"
        multiple
        hidden
        aria-label={words.session.attach}
        onChange={({ target }) => {
          onFiles(target.files)
          target.value = ''
        }}
      />
      <Button
        kind="plain"
        label={words.session.attach}
        icon={<IconAttach />}
        offBecause={offBecause}
        onClick={() => chooser.current?.click()}
      />
    </>
  )
}

const AttachmentChip = ({
  attachment: { key, name, share, problem },
  onDetach,
}: {
  attachment: ComposerAttachment
  onDetach: ((key: number) => void) | undefined
}) => (
  <li
    title={problem ?? name}
    className={`relative flex h-6 max-w-full items-center overflow-hidden rounded-[5px] border pl-2 text-small ${problem === undefined ? 'bg-n2 text-n11' : 'border-failed text-failed'}`}
  >
    <span className="min-w-0 truncate">{name}</span>
    {problem !== undefined && <span className="ml-1.5 min-w-0 truncate">{problem}</span>}
    {share < 1 && problem === undefined && (
      <span className="ml-1.5 text-n9">{Math.round(share * 100)} %</span>
    )}
    <button
      type="button"
      aria-label={words.removeOne(name)}
      onClick={() => onDetach?.(key)}
      className="grid h-full w-6 shrink-0 place-items-center text-n8 outline-offset-[-2px] hover:text-n11"
    >
      <IconClose className="size-3" />
    </button>
  </li>
)
