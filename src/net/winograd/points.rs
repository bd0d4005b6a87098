//! The points at which polynomials are evaluated, and the matrices of evaluation and interpolation.
//!
//! For a board of `W` rows there are `W + 2` points in each direction: 0, pairs of opposite
//! numbers, and infinity where `W` is even. The matrices are `A` (points x `W`), `B` (points x `W`,
//! for boards with padding 0) and `G` (points x 3). The convolution of a row `d` with taps `g` is
//! `A' ((G g) * (B d))` (Lavin and Gray 2016, section 4). The rows of opposite points differ only
//! in the sign of every second entry, which halves the work.
//!
//! The pairs were chosen by measuring float32 errors against float64. Numbers between 1/4 and 5/2
//! that are not too close to each other have errors 10 times smaller than 1, 2, 1/2 and 4 (Barabasz
//! et al. 2020, "Error analysis and improving the accuracy of Winograd convolution").

/// The positive number of each pair, for a board of `width` rows.
///
/// # Panics
///
/// No board has this width.
fn pairs(width: usize) -> &'static [f64] {
    match width {
        6 => &[0.5, 1.0, 2.0],
        7 | 8 => &[0.375, 0.75, 1.25, 2.5],
        10 => &[0.25, 0.625, 1.0, 1.5, 2.5],
        _ => panic!("there is no board of {width} rows"),
    }
}

/// The matrix of a transform between one line of `W` cells and `W + 2` points.
#[derive(Clone, Debug)]
pub(in crate::net) struct LineTransform<const W: usize, const PAIRS: usize> {
    /// The row of the positive number of each pair. The row of the negative number has the opposite
    /// sign in odd entries.
    pub pairs: [[f32; W]; PAIRS],
    /// The row of point 0.
    pub zero: [f32; W],
    /// The row of infinity. Unused where `W` is odd.
    pub infinity: [f32; W],
}

/// The matrices of a board of `W` rows. The order of points is 0, then each pair with the positive
/// number first, then infinity.
#[derive(Clone, Debug)]
pub(in crate::net) struct Matrices<const W: usize, const PAIRS: usize> {
    /// `A`. Its transpose interpolates outputs.
    pub outputs: LineTransform<W, PAIRS>,
    /// `B`. It evaluates inputs.
    pub inputs: LineTransform<W, PAIRS>,
    /// `G`. It evaluates filters: a row of three entries for each point.
    pub filter: Vec<[f32; 3]>,
}

impl<const W: usize, const PAIRS: usize> Matrices<W, PAIRS> {
    /// The matrices for boards of `W` rows.
    ///
    /// # Panics
    ///
    /// `PAIRS` is not `W / 2`, rounded up.
    pub(in crate::net) fn new() -> Self {
        assert_eq!(PAIRS, W.div_ceil(2), "pairs of points for {W} rows");
        let pairs = pairs(W);
        let signed = pairs.iter().flat_map(|&pair| [pair, -pair]);
        let finite: Vec<f64> = std::iter::once(0.0).chain(signed).collect();
        let mut filter = Vec::new();
        let mut inputs = LineTransform::empty();
        let mut outputs = LineTransform::empty();
        for (index, &point) in finite.iter().enumerate() {
            let others = finite.iter().copied().filter(|&other| other != point);
            let distance: f64 = others.clone().map(|other| point - other).product();
            let polynomial = product_of_roots(others);
            // A row of B may be multiplied by a factor if the row of G is divided by it. Powers of
            // two cause no rounding errors.
            let out_scale = power_of_two(norm((0..W).map(|i| point.powi(i as i32))));
            let in_scale = power_of_two(norm(polynomial.iter().copied()));
            // Entry i + 1 of the padded row is cell i.
            let mut row: [f64; W] = std::array::from_fn(|i| entry(&polynomial, i + 1) / in_scale);
            let mut scale = in_scale * out_scale / distance;
            if point < 0.0 && row[0] * f64::from(inputs.pairs[(index - 1) / 2][0]) < 0.0 {
                row = row.map(|entry| -entry);
                scale = -scale;
            }
            inputs.set(index, row);
            outputs.set(index, std::array::from_fn(|i| point.powi(i as i32) / out_scale));
            filter.push([0, 1, 2].map(|k| (scale * point.powi(k)) as f32));
        }
        if W.is_multiple_of(2) {
            let polynomial = product_of_roots(finite.iter().copied());
            let in_scale = power_of_two(norm(polynomial.iter().copied()));
            inputs.infinity =
                std::array::from_fn(|i| (entry(&polynomial, i + 1) / in_scale) as f32);
            outputs.infinity[W - 1] = 1.0;
            filter.push([0.0, 0.0, in_scale as f32]);
        }
        Matrices { outputs, inputs, filter }
    }
}

impl<const W: usize, const PAIRS: usize> LineTransform<W, PAIRS> {
    fn empty() -> Self {
        LineTransform { pairs: [[0.0; W]; PAIRS], zero: [0.0; W], infinity: [0.0; W] }
    }

    /// Stores the row of finite point `index`. The row of a negative point is only checked, because
    /// it follows from that of the opposite point.
    fn set(&mut self, index: usize, row: [f64; W]) {
        let row = row.map(|entry| entry as f32);
        match index {
            0 => self.zero = row,
            _ if index % 2 == 1 => self.pairs[index / 2] = row,
            _ => debug_assert!((0..W).all(|i| {
                let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
                (row[i] - sign * self.pairs[index / 2 - 1][i]).abs() <= 1e-6
            })),
        }
    }
}

/// The coefficient of `x^power`. Coefficients are in the order of rising powers.
fn entry(polynomial: &[f64], power: usize) -> f64 {
    polynomial.get(power).copied().unwrap_or(0.0)
}

/// The coefficients of the product of all `x - root`, in the order of rising powers.
fn product_of_roots(roots: impl Iterator<Item = f64>) -> Vec<f64> {
    roots.fold(vec![1.0], |polynomial, root| {
        (0..=polynomial.len())
            .map(|power| {
                let lower = if power > 0 { polynomial[power - 1] } else { 0.0 };
                lower - root * entry(&polynomial, power)
            })
            .collect()
    })
}

fn norm(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.map(|number| number * number).sum::<f64>().sqrt()
}

/// The power of two nearest to `number` on a logarithmic scale.
fn power_of_two(number: f64) -> f64 {
    number.log2().round().exp2()
}
