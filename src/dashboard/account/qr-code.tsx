import { useEffect, useState } from 'preact/hooks';

/** Width of the border that readers need, in modules (ISO/IEC 18004, section 9.1). */
const BORDER = 4;

/** Shows a text as a QR code. The code that draws it is loaded on demand. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const [drawn, setDrawn] = useState<{ readonly size: number; readonly path: string } | null>(null);
  useEffect(() => {
    let isOver = false;
    void import('qrcode').then(({ default: { create } }) => {
      const { size, data } = create(text, { errorCorrectionLevel: 'M' }).modules;
      const dark = Array.from(data.keys()).filter((at) => data[at]);
      const path = dark.map((at) => `M${BORDER + (at % size)} ${BORDER + Math.floor(at / size)}h1v1h-1z`).join('');
      if (!isOver) setDrawn({ size: size + 2 * BORDER, path });
    });
    return () => {
      isOver = true;
    };
  }, [text]);
  if (drawn === null) return <div class="qr-code" />;
  return (
    <svg class="qr-code" role="img" aria-label={label} viewBox={`0 0 ${drawn.size} ${drawn.size}`}>
      <path d={drawn.path} shape-rendering="crispEdges" />
    </svg>
  );
}
