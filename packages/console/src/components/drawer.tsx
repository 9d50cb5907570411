import { Dialog } from '@base-ui/react/dialog'
import type { ReactNode } from 'react'

/** The rail on a narrow page: it lies over the page, and closes when a page was chosen. */
export const Drawer = ({
  label,
  onClose,
  children,
}: {
  label: string
  onClose: () => void
  children: ReactNode
}) => (
  <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
    <Dialog.Portal>
      <Dialog.Backdrop className="fixed inset-0 bg-scrim" />
      <Dialog.Popup
        aria-label={label}
        onClick={(event) =>
          event.target instanceof Element && event.target.closest('a') && onClose()
        }
        className="fixed inset-y-0 left-0 flex w-[248px] flex-col gap-px overflow-y-auto border-r bg-float p-2 shadow-float outline-none"
      >
        {children}
      </Dialog.Popup>
    </Dialog.Portal>
  </Dialog.Root>
)
