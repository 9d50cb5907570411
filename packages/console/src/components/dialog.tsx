/** A dialog says what will happen; the safe answer has the focus. */
import { Dialog as BaseDialog } from '@base-ui/react/dialog'
import type { ReactNode, RefObject } from 'react'

type DialogProps = {
  title: string
  onClose: () => void
  children: ReactNode
  actions?: ReactNode
  /** What has the focus first: the safe answer. */
  firstFocus?: RefObject<HTMLElement | null>
  isWide?: boolean
}

export const Dialog = ({ title, onClose, children, actions, firstFocus, isWide }: DialogProps) => (
  <BaseDialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
    <BaseDialog.Portal>
      <BaseDialog.Backdrop className="fixed inset-0 z-10 bg-scrim" />
      <BaseDialog.Popup
        initialFocus={firstFocus}
        className={`fixed top-[12vh] left-1/2 z-10 flex max-h-[76vh] w-[calc(100vw-32px)] -translate-x-1/2 flex-col rounded-panel border bg-float shadow-float outline-none ${isWide ? 'max-w-[560px]' : 'max-w-[420px]'}`}
      >
        <div className="grid min-h-0 gap-2 overflow-auto px-4 py-3.5">
          <BaseDialog.Title className="text-head font-semibold text-n11">{title}</BaseDialog.Title>
          {children}
        </div>
        {actions !== undefined && (
          <footer className="flex justify-end gap-2 border-t px-4 py-2.5">{actions}</footer>
        )}
      </BaseDialog.Popup>
    </BaseDialog.Portal>
  </BaseDialog.Root>
)
