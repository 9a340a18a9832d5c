//! A vector of cells that are addressed by index; freed cells are reused.

/// Cells that are made room for at once.
const FIRST_CELLS: usize = 32;

/// Cells of one kind.
#[derive(Debug)]
pub(super) struct Slab<T> {
    cells: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { cells: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// Puts in a cell. There are fewer than 2^32, as each takes bytes of the budget.
    pub(super) fn insert(&mut self, cell: T) -> u32 {
        match self.free.pop() {
            Some(at) => {
                self.cells[at as usize] = Some(cell);
                at
            }
            None => {
                if self.cells.capacity() == 0 {
                    self.cells.reserve(FIRST_CELLS);
                }
                self.cells.push(Some(cell));
                (self.cells.len() - 1) as u32
            }
        }
    }

    pub(super) fn get(&self, at: u32) -> Option<&T> {
        self.cells.get(at as usize)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, at: u32) -> Option<&mut T> {
        self.cells.get_mut(at as usize)?.as_mut()
    }

    /// Empties the cells for which no mark is set, and hands the others to `keep`.
    pub(super) fn sweep(&mut self, marks: &[bool], mut keep: impl FnMut(&T)) {
        self.free.clear();
        for (at, cell) in self.cells.iter_mut().enumerate() {
            match cell {
                Some(cell) if marks.get(at).copied().unwrap_or(false) => keep(cell),
                _ => {
                    *cell = None;
                    self.free.push(at as u32);
                }
            }
        }
        // Cells at the end that are free go back to the system.
        while self.cells.last().is_some_and(Option::is_none) {
            self.cells.pop();
        }
        let length = self.cells.len() as u32;
        self.free.retain(|at| *at < length);
        if self.cells.capacity() > 4 * self.cells.len() + 64 {
            self.cells.shrink_to_fit();
            self.free.shrink_to_fit();
        }
    }

    /// The places of the cells that are asked for.
    pub(super) fn places(&self, is_wanted: impl Fn(&T) -> bool) -> Vec<u32> {
        let cells = self.cells.iter().enumerate();
        let wanted = cells.filter(|(_, cell)| cell.as_ref().is_some_and(&is_wanted));
        wanted.map(|(at, _)| at as u32).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }
}

impl<T: Default> Slab<T> {
    /// A cell that was given back with what it holds, or a new one.
    pub(super) fn reuse(&mut self) -> u32 {
        match self.free.pop() {
            Some(at) => {
                self.cells[at as usize].get_or_insert_with(T::default);
                at
            }
            None => self.insert(T::default()),
        }
    }

    /// Gives a cell back; what it holds is kept for the next one.
    pub(super) fn give_back(&mut self, at: u32) {
        self.free.push(at);
    }
}
