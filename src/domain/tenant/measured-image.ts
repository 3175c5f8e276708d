/** An image file, from its first byte to its end, and its size in pixels. */
export interface MeasuredImage {
  readonly width: number;
  readonly height: number;
  readonly content: Buffer;
}
