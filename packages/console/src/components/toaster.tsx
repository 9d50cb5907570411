/** What is done goes by itself after eight seconds; what failed stays until somebody closes it. */
import { Toast } from '@base-ui/react/toast'
import { useEffect } from 'react'
import { useStore } from '../lib/store.ts'
import { toasts } from '../lib/toasts.ts'
import type { ToastNote } from '../lib/toasts.ts'
import { words } from '../lib/words.ts'
import { Button } from './button.tsx'
import { IconCheck, IconClose, IconWarning } from './icons.tsx'

const shownMs = 8_000
const shown = new Set<number>()

export const Toaster = () => (
  <Toast.Provider timeout={shownMs} limit={3}>
    <ToastList />
  </Toast.Provider>
)

function ToastList() {
  const notes = useStore(toasts)
  const { toasts: open, add, close } = Toast.useToastManager()
  useEffect(() => {
    for (const note of notes.filter(({ id }) => !shown.has(id))) {
      shown.add(note.id)
      add({
        title: note.text,
        type: note.kind,
        timeout: note.kind === 'failed' ? 0 : shownMs,
        data: note,
      })
    }
  }, [notes, add])
  return (
    <Toast.Portal>
      <Toast.Viewport className="fixed right-4 bottom-28 z-30 grid w-[calc(100vw-32px)] max-w-[420px] gap-2">
        {open.map((toast) => (
          <Toast.Root
            key={toast.id}
            toast={toast}
            aria-label={(toast.data as ToastNote).text}
            className="outline-none"
          >
            <ToastFace note={toast.data as ToastNote} onClose={() => close(toast.id)} />
          </Toast.Root>
        ))}
      </Toast.Viewport>
    </Toast.Portal>
  )
}

export const ToastFace = ({
  note,
  onClose,
}: {
  note: Omit<ToastNote, 'id'>
  onClose: () => void
}) => (
  <div className="flex min-h-11 items-center gap-2.5 rounded-panel border bg-float py-2 pr-2 pl-3.5 text-n11 shadow-float">
    {note.kind === 'done' ? (
      <IconCheck className="text-good" />
    ) : (
      <IconWarning className="text-failed" />
    )}
    <span className="min-w-0 flex-1">{note.text}</span>
    {note.action && (
      <Button kind="plain" onClick={note.action.run}>
        {note.action.label}
      </Button>
    )}
    <Button kind="plain" label={words.dismiss} icon={<IconClose />} onClick={onClose} />
  </div>
)
